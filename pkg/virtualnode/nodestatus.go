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

// observe records how sandboxd does and reports whether that is news.
func (s *nodeStatus) observe(r Reachability, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return setReachability(s.node, r, now)
}
