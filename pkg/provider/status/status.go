// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// View is the Pod as this node publishes it: the newest object with its current status
// and claim id. Nested values are shared with the tracked object.
func (m *Manager) View(t pods.Tracked) *corev1.Pod {
	pod := *t.Pod
	// virtual-kubelet would delete the Pod in the API if this were set.
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, nil
	status, claimID := m.Status(t)
	pod.Status = status
	if claimID != "" && pod.Annotations[podcontract.AnnotationClaimID] != claimID {
		pod.Annotations = maps.Clone(pod.Annotations)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[podcontract.AnnotationClaimID] = claimID
	}
	return &pod
}

// Status is the current status of the Pod by the table, and its claim id if it has one.
func (m *Manager) Status(t pods.Tracked) (status corev1.PodStatus, claimID string) {
	key := podcontract.Key(t.Pod)
	c, held := m.table.Get(key)
	held = held && c.PodUID == t.Pod.UID
	// The tracked object can be older than the conditions of the Pod's readiness gates.
	pod := m.pods.Cached(key, t.Pod.UID)
	if pod == nil {
		pod = t.Pod
	}
	switch {
	case t.End != nil:
		e := t.End
		return podstatus.Failed(pod, e.Binding, e.Reason, e.Message, e.At), e.Binding.ClaimID
	case held && c.State == claims.Bound && c.Durable:
		return podstatus.Running(pod, pods.BindingOf(c)), c.ID
	case held && c.State == claims.Tentative:
		// The API does not have this claim id, so virtual-kubelet calls UpdatePod,
		// which returns the sandbox.
		return podstatus.Pending(), c.ID
	}
	// A published status that names a sandbox without a claim here must not be
	// overwritten: only it prevents a second sandbox for the Pod.
	if t.Waiting != "" && podstatus.ClaimID(t.Pod) == "" {
		return podstatus.Awaiting(pod, t.Waiting), ""
	}
	return podstatus.Pending(), ""
}

// Published reports whether the API shows this node's status of the Pod. Fields of other
// owners are ignored. Conditions are compared, because the node lifecycle controller
// marks the Pods of an unreachable node as not ready, and only the node marks them ready
// again. After a terminal phase nothing can be published.
func Published(api *corev1.Pod, ours corev1.PodStatus, claimID string) bool {
	if !hasStatus(ours) || pods.Terminal(api) {
		return true
	}
	return api.Status.ObservedGeneration == ours.ObservedGeneration &&
		api.Status.Phase == ours.Phase &&
		api.Status.Reason == ours.Reason &&
		api.Status.PodIP == ours.PodIP &&
		(claimID == "" || api.Annotations[podcontract.AnnotationClaimID] == claimID) &&
		equality.Semantic.DeepEqual(api.Status.InitContainerStatuses, ours.InitContainerStatuses) &&
		equality.Semantic.DeepEqual(api.Status.ContainerStatuses, ours.ContainerStatuses) &&
		equality.Semantic.DeepEqual(api.Status.EphemeralContainerStatuses, ours.EphemeralContainerStatuses) &&
		!slices.ContainsFunc(ours.Conditions, func(c corev1.PodCondition) bool { return !hasCondition(api, c) })
}

// hasStatus reports whether there is anything to publish.
func hasStatus(status corev1.PodStatus) bool {
	return status.Phase != corev1.PodPending || status.Message != ""
}

func hasCondition(pod *corev1.Pod, want corev1.PodCondition) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == want.Type && c.Status == want.Status && c.Reason == want.Reason && c.Message == want.Message
	})
}
