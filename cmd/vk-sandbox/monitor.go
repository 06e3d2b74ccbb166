// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/diagnostics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/podcache"
)

// monitor receives each part of the daemon once it exists, for metrics and health.
type monitor struct {
	metrics *daemonmetrics.Set
	ready   readiness
}

// listen opens --metrics-addr. It returns nil if that is empty.
func (m *monitor) listen(ctx context.Context, o *options) (*diagnostics.Server, error) {
	if o.metricsAddr == "" {
		return nil, nil
	}
	server, err := diagnostics.Listen(ctx, diagnostics.Config{
		Addr: o.metricsAddr, Metrics: m.metrics.Handler(), Ready: m.ready.checks(), Profiles: o.enablePprof,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.origin("metrics-addr"), err)
	}
	return server, nil
}

func (m *monitor) table(table *claims.Table) {
	m.metrics.Claims.Watch(table)
	m.ready.table.Store(table)
}

func (m *monitor) guard(guard *place.Guard) {
	m.metrics.Guard.Watch(guard.Status)
	m.ready.guard.Store(guard)
}

func (m *monitor) node(pods *podcache.Informer, p *provider.Provider, node *virtualnode.VirtualNode) {
	m.metrics.Provider.Watch(p)
	m.metrics.Nodes.Watch(node.QueueDepths, p.StatusQueueLen)
	synced, registered := pods.HasSynced, node.Registered()
	m.ready.podsSynced.Store(&synced)
	m.ready.registered.Store(&registered)
}
