// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import "github.com/cocoonstack/vk-sandbox/pkg/metrics"

// statusPublish is the provider's queue of statuses to publish.
const statusPublish Queue = "status_publish"

// Metrics exposes the depths of the Pod queues.
type Metrics struct {
	registry *metrics.Registry
	depth    *metrics.Desc
}

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	const labelQueue = "queue"
	queues := metrics.Texts(append(Queues(), statusPublish))
	return &Metrics{r, r.Read(metrics.Family{
		Name: "queue_depth", Labels: []string{labelQueue}, Values: map[string][]string{labelQueue: queues},
		Help: "Pods in a queue, in work or waiting for the next attempt.",
	})}
}

// Watch reads the depths of all queues at each scrape: those of depths, which is
// [VirtualNode.QueueDepths], and statuses, the provider's queue of statuses to publish.
// It may be called once.
func (m *Metrics) Watch(depths func() map[Queue]int, statuses func() int) {
	m.registry.Collect(func(sample metrics.Sample) {
		for queue, depth := range depths() {
			sample(m.depth, float64(depth), string(queue))
		}
		sample(m.depth, float64(statuses()), string(statusPublish))
	}, m.depth)
}
