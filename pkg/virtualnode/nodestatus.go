// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// nodeStatus holds the Node as this daemon wants it. The library writes into
// the conditions of whatever it is given, so everyone gets a copy.
type nodeStatus struct {
	mu   sync.Mutex
	node *corev1.Node
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
