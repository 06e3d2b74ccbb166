// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "k8s.io/component-base/metrics"

// prefix begins every name.
const prefix = "vk_sandbox_"

// Type is the kind of a metric in Prometheus' words.
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
	// Stability says what may change: see the levels of Kubernetes' metrics.
	Stability metrics.StabilityLevel
	// Labels are the names of the labels, in order.
	Labels []string
	// Values has the possible values of each label; none for a label whose
	// one value describes the build.
	Values map[string][]string
	Help   string
}

// labels of the metrics.
const (
	labelState     = "state"
	labelOperation = "operation"
	labelResult    = "result"
	labelVerdict   = "verdict"
	labelCause     = "cause"
	labelFinding   = "finding"
	labelObject    = "object"
	labelQueue     = "queue"
)

// callBuckets reach from an answer on loopback to the limit of a claim, in
// seconds.
func callBuckets() []float64 {
	return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60}
}

// writeBuckets reach from a write to a fast disk to one that hangs, in seconds.
func writeBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}
