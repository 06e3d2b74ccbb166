// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package daemonmetrics puts the metrics of all parts of the daemon into one registry.
package daemonmetrics

import (
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// Set has the metrics of each part, and the registry that serves them. It is safe
// for concurrent use.
type Set struct {
	*metrics.Registry

	Claims   *claims.Metrics
	Guard    *place.Metrics
	Nodes    *virtualnode.Metrics
	Objects  *publish.Metrics
	Owners   *ownership.Metrics
	Provider *provider.Metrics
	Sandboxd *sandboxd.Metrics
}

// New returns the metrics of a build of this version. Counters start at zero; watched
// values appear once their Watch is called.
func New(version string) *Set {
	r := metrics.NewRegistry(version)
	return &Set{
		Registry: r,
		Claims:   claims.NewMetrics(r),
		Guard:    place.NewMetrics(r),
		Nodes:    virtualnode.NewMetrics(r),
		Objects:  publish.NewMetrics(r, inventory.Kind, claimstatus.Kind),
		Owners:   ownership.NewMetrics(r),
		Provider: provider.NewMetrics(r),
		Sandboxd: sandboxd.NewMetrics(r),
	}
}
