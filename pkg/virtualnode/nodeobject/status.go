// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions that this daemon adds to the Node. They are separate from Ready,
// which stays True: a NotReady node has its Pods evicted while their microVMs
// serve users.
const (
	// ConditionSandboxdReachable tells whether the host's sandboxd answers and
	// takes the daemon's credential.
	ConditionSandboxdReachable corev1.NodeConditionType = "SandboxdReachable"
	// ConditionClaimsTableWritable tells whether the newest write of the claims
	// table reached the disk.
	ConditionClaimsTableWritable corev1.NodeConditionType = "ClaimsTableWritable"
)

// Condition is the state of one of those. Reason is one CamelCase word. Both texts
// should change only with the state, because every change is published.
type Condition struct {
	Type            corev1.NodeConditionType
	Status          corev1.ConditionStatus
	Reason, Message string
}

func newConditions(own []Condition, now metav1.Time) []corev1.NodeCondition {
	all := append([]Condition{
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "vk-sandbox is serving sandbox Pods"},
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "capacity is a scheduling budget"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "no container runs on this node"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "no container runs on this node"},
		{corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "sandboxes are reached through sandboxd"},
	}, own...)
	conditions := make([]corev1.NodeCondition, 0, len(all))
	for _, c := range all {
		conditions = append(conditions, corev1.NodeCondition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	return conditions
}

// setCondition updates a condition and reports whether anything of it changed,
// and whether its status did. Only a new status moves the transition time.
func setCondition(n *corev1.Node, want Condition, now time.Time) (changed, transitioned bool) {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		if c.Type != want.Type || (Condition{c.Type, c.Status, c.Reason, c.Message}) == want {
			continue
		}
		transitioned = c.Status != want.Status
		if transitioned {
			c.LastTransitionTime = metav1.NewTime(now)
		}
		c.Status, c.Reason, c.Message = want.Status, want.Reason, want.Message
		return true, transitioned
	}
	return false, false
}

// keepTransitions keeps the published transition time of every condition whose status is
// unchanged: a restart of the daemon is no transition.
func keepTransitions(n, published *corev1.Node) {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		for _, old := range published.Status.Conditions {
			if old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
}

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

// setPods sets how many Pods there is room for, and asks for that to be published.
func (s *nodeStatus) setPods(pods resource.Quantity) {
	s.mu.Lock()
	s.node.Status.Capacity[corev1.ResourcePods] = pods
	s.node.Status.Allocatable[corev1.ResourcePods] = pods
	s.mu.Unlock()
	select {
	case s.capacityChanged <- struct{}{}:
	default: // an earlier change is still to be published, and takes this one along
	}
}

// current returns a copy of the complete Node.
func (s *nodeStatus) current() *corev1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node.DeepCopy()
}

// forRegistration returns a copy of the complete Node. Registering it publishes every
// change so far.
func (s *nodeStatus) forRegistration() *corev1.Node {
	select {
	case <-s.capacityChanged:
	default:
	}
	return s.current()
}

// observe records a condition and reports what changed about it; see
// [setCondition].
func (s *nodeStatus) observe(c Condition, now time.Time) (changed, transitioned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return setCondition(s.node, c, now)
}
