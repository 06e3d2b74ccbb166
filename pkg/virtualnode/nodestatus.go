// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// nodeStatus holds the Node as this daemon wants it. The library writes into
// the conditions of whatever it is given, so everyone gets a copy.
type nodeStatus struct {
	mu   sync.Mutex
	node *corev1.Node
	// capacityChanged has a value when the capacity is to be published.
	capacityChanged chan struct{}
}

func newNodeStatus(n *corev1.Node) *nodeStatus {
	return &nodeStatus{node: n, capacityChanged: make(chan struct{}, 1)}
}

// setPods sets for how many Pods there is room, and has it published.
func (s *nodeStatus) setPods(pods resource.Quantity) {
	s.mu.Lock()
	s.node.Status.Capacity[corev1.ResourcePods] = pods
	s.node.Status.Allocatable[corev1.ResourcePods] = pods
	s.mu.Unlock()
	select {
	case s.capacityChanged <- struct{}{}:
	default: // a change that waits to be published takes this one along
	}
}

// current returns a copy of the complete Node.
func (s *nodeStatus) current() *corev1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node.DeepCopy()
}

// observe records a condition and reports what is news about it; see
// [setCondition].
func (s *nodeStatus) observe(c Condition, now time.Time) (changed, turned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return setCondition(s.node, c, now)
}
