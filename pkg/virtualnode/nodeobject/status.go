// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeConditions returns the conditions of a node without containers, and the daemon's
// own, which do not affect Ready. Ready stays True: a NotReady node has its Pods evicted
// while their microVMs serve users.
func nodeConditions(own []metav1.Condition, now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: string(kind), Status: status, Reason: reason, Message: message}
	}
	all := append([]metav1.Condition{
		condition(corev1.NodeReady, metav1.ConditionTrue, "KubeletReady", "vk-sandbox is serving sandbox Pods"),
		condition(corev1.NodeMemoryPressure, metav1.ConditionFalse, "KubeletHasSufficientMemory", "capacity is a scheduling budget"),
		condition(corev1.NodeDiskPressure, metav1.ConditionFalse, "KubeletHasNoDiskPressure", "no container runs on this node"),
		condition(corev1.NodePIDPressure, metav1.ConditionFalse, "KubeletHasSufficientPID", "no container runs on this node"),
		condition(corev1.NodeNetworkUnavailable, metav1.ConditionFalse, "RouteCreated", "sandboxes are reached through sandboxd"),
	}, own...)
	conditions := make([]corev1.NodeCondition, 0, len(all))
	for _, c := range all {
		n := corev1.NodeCondition{Type: corev1.NodeConditionType(c.Type), LastHeartbeatTime: now, LastTransitionTime: now}
		n.Status, n.Reason, n.Message = corev1.ConditionStatus(c.Status), c.Reason, c.Message
		conditions = append(conditions, n)
	}
	return conditions
}

func asCondition(c corev1.NodeCondition) metav1.Condition {
	return metav1.Condition{
		Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		LastTransitionTime: c.LastTransitionTime,
	}
}

// update updates a condition of the Node, and reports whether anything changed. Only a
// new status changes the transition time.
func update(c *corev1.NodeCondition, want metav1.Condition) (changed bool) {
	current := []metav1.Condition{asCondition(*c)}
	changed = meta.SetStatusCondition(&current, want)
	c.Status, c.Reason, c.Message = corev1.ConditionStatus(current[0].Status), current[0].Reason, current[0].Message
	c.LastTransitionTime = current[0].LastTransitionTime
	return changed
}

// setCondition updates the Node's condition of that type, and reports whether anything of it
// changed, and whether its status did. A Node without such a condition stays as it is.
func setCondition(n *corev1.Node, want metav1.Condition, now time.Time) (changed, transitioned bool) {
	want.LastTransitionTime = metav1.NewTime(now)
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; string(c.Type) == want.Type {
			before := c.Status
			changed = update(c, want)
			return changed, c.Status != before
		}
	}
	return false, false
}

// keepTransitions keeps the published transition time of every condition whose status is
// unchanged: a restart of the daemon is no transition.
func keepTransitions(n, published *corev1.Node) {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		for _, old := range published.Status.Conditions {
			if old.Type == c.Type {
				update(&old, asCondition(*c))
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
}

// nodeStatus holds the desired Node. The library writes into the conditions of every Node
// it receives, so each caller gets a copy.
type nodeStatus struct {
	mu   sync.Mutex
	node *corev1.Node
	// capacityChanged has a value when the capacity must be published.
	capacityChanged chan struct{}
}

func newNodeStatus(n *corev1.Node) *nodeStatus {
	return &nodeStatus{node: n, capacityChanged: make(chan struct{}, 1)}
}

// setPods sets the capacity for Pods and requests its publication.
func (s *nodeStatus) setPods(pods resource.Quantity) {
	s.mu.Lock()
	s.node.Status.Capacity[corev1.ResourcePods] = pods
	s.node.Status.Allocatable[corev1.ResourcePods] = pods
	s.mu.Unlock()
	select {
	case s.capacityChanged <- struct{}{}:
	default: // a pending publication includes this change
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
func (s *nodeStatus) observe(c metav1.Condition, now time.Time) (changed, transitioned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return setCondition(s.node, c, now)
}
