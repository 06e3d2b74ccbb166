// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditionGatesNotReady is a kubelet's reason for a Pod that is not Ready because of its
// readiness gates.
const conditionGatesNotReady = "ReadinessGatesNotReady"

// SetByNode reports whether only the node of a Pod sets the condition. PodScheduled is
// set by the scheduler too.
func SetByNode(t corev1.PodConditionType) bool {
	switch t {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady:
		return true
	}
	return false
}

// conditions returns the conditions of a Pod with a sandbox, in a kubelet's order. Ready
// follows the Pod's readiness gates.
func conditions(pod *corev1.Pod, since metav1.Time) []corev1.PodCondition {
	kinds := []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	}
	all := make([]corev1.PodCondition, len(kinds))
	for i, kind := range kinds {
		all[i] = corev1.PodCondition{
			Type: kind, ObservedGeneration: pod.Generation, Status: corev1.ConditionTrue, LastTransitionTime: since,
		}
	}
	if problem := UnreadyGates(pod); problem != "" {
		setFalse(all, conditionGatesNotReady, since, corev1.PodReady)
		all[slices.Index(kinds, corev1.PodReady)].Message = problem
	}
	return all
}

// setFalse changes the conditions of the given kinds to False.
func setFalse(all []corev1.PodCondition, reason string, at metav1.Time, kinds ...corev1.PodConditionType) {
	for i := range all {
		if c := &all[i]; slices.Contains(kinds, c.Type) {
			c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionFalse, reason, "", at
		}
	}
}

// UnreadyGates says which of the Pod's readiness gates are not True in its published
// conditions, in a kubelet's words; empty if all are.
func UnreadyGates(pod *corev1.Pod) string {
	var problems []string
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		} else if c := pod.Status.Conditions[i]; c.Status != corev1.ConditionTrue {
			problems = append(problems, fmt.Sprintf("the status of pod readiness gate %q is not %q, but %v", gate.ConditionType, corev1.ConditionTrue, c.Status))
		}
	}
	return strings.Join(problems, ", ")
}
