// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionSandboxdReachable is the Node condition that tells whether the
// host's sandboxd answers. It is apart from Ready, which stays True: a NotReady
// node has its Pods evicted while their microVMs serve users.
const ConditionSandboxdReachable corev1.NodeConditionType = "SandboxdReachable"

// Reachability is what the SandboxdReachable condition shows. Reason is one
// CamelCase word; both texts should change only when the state does, because
// every change is published.
type Reachability struct {
	Status          corev1.ConditionStatus
	Reason, Message string
}

func newConditions(r Reachability, now metav1.Time) []corev1.NodeCondition {
	healthy := func(t corev1.NodeConditionType, s corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: t, Status: s, Reason: reason, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	return []corev1.NodeCondition{
		healthy(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "vk-sandbox is serving sandbox Pods"),
		healthy(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "capacity is a scheduling budget"),
		healthy(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "no container runs on this node"),
		healthy(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "no container runs on this node"),
		healthy(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "sandboxes are reached through sandboxd"),
		healthy(ConditionSandboxdReachable, r.Status, r.Reason, r.Message),
	}
}

// setReachability updates the condition and reports whether it changed. The
// transition time moves only with the status.
func setReachability(n *corev1.Node, r Reachability, now time.Time) bool {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		if c.Type != ConditionSandboxdReachable {
			continue
		}
		if (Reachability{c.Status, c.Reason, c.Message}) == r {
			return false
		}
		if c.Status != r.Status {
			c.LastTransitionTime = metav1.NewTime(now)
		}
		c.Status, c.Reason, c.Message = r.Status, r.Reason, r.Message
		return true
	}
	return false
}

// keepTransitions takes over the transition time of every condition whose
// status is the one that the API server already shows: a restart of the daemon
// is no transition.
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
