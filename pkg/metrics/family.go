// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "k8s.io/component-base/metrics"

// prefix is the prefix of every name.
const prefix = "vk_sandbox_"

// Type is the Prometheus type of a metric.
type Type string

// The types in use.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Family describes one metric.
type Family struct {
	// Name is the full name.
	Name string
	Type Type
	// Stability is the stability level as in Kubernetes' metrics.
	Stability metrics.StabilityLevel
	// Labels are the names of the labels, in order.
	Labels []string
	// Values has the possible values of each label; empty for a label whose one value
	// describes the build.
	Values map[string][]string
	Help   string
}
