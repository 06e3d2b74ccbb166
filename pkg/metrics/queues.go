// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/cocoonstack/vk-sandbox/pkg/virtualnode"

// Queues are the queues of pkg/virtualnode as they are watched.
type Queues interface {
	QueueDepths() map[virtualnode.Queue]int
}

// WatchQueues reads the depth of all queues at each scrape. It may be called
// once.
func (m *Metrics) WatchQueues(node Queues, p Provider) {
	m.collect(func(s sample) {
		for queue, depth := range node.QueueDepths() {
			s(m.queueDepth, float64(depth), string(queue))
		}
		s(m.queueDepth, float64(p.StatusQueueLen()), queueStatus)
	}, m.queueDepth)
}
