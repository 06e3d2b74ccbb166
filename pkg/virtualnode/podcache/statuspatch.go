// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// statusPatch returns the strategic merge patch that brings base, the API
// server's Pod, to the status that pod reports; nil when there is nothing to
// change.
//
// The patch names the Pod's UID and version, so that the API server refuses it
// for any other Pod, and for this one when it has changed since: it may have
// ended, and a terminal phase is never taken back. Of the metadata it touches
// only the claim-id annotation: that one is set or changed, never removed,
// because a Pod that the library reports a failed create for is the API server's
// and does not carry ours.
func statusPatch(base, pod *corev1.Pod) ([]byte, error) {
	before := corev1.Pod{Status: base.Status}
	after := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: base.UID, ResourceVersion: base.ResourceVersion},
		Status:     mergeStatus(base.Status, pod.Status),
	}
	if id := pod.Annotations[podcontract.AnnotationClaimID]; id != "" && id != base.Annotations[podcontract.AnnotationClaimID] {
		after.Annotations = map[string]string{podcontract.AnnotationClaimID: id}
	}
	patch, err := diff(before, after)
	if err != nil {
		return nil, err
	}
	// The preconditions alone change nothing.
	empty, err := diff(corev1.Pod{}, corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: base.UID, ResourceVersion: base.ResourceVersion}})
	if err != nil || bytes.Equal(patch, empty) {
		return nil, err
	}
	return patch, nil
}

func diff(before, after corev1.Pod) ([]byte, error) {
	old, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("encode the published pod status: %w", err)
	}
	changed, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("encode the reported pod status: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(old, changed, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("build the pod status patch: %w", err)
	}
	return patch, nil
}

// mergeStatus is the reported status in the fields that a node reports, and
// the published one in all others: those belong to the API server, the
// scheduler and controllers.
func mergeStatus(published, reported corev1.PodStatus) corev1.PodStatus {
	merged := *published.DeepCopy()
	merged.Phase, merged.Reason, merged.Message = reported.Phase, reported.Reason, reported.Message
	merged.HostIP, merged.HostIPs = reported.HostIP, reported.HostIPs
	merged.PodIP, merged.PodIPs = reported.PodIP, reported.PodIPs
	merged.StartTime = reported.StartTime
	merged.InitContainerStatuses = reported.InitContainerStatuses
	merged.ContainerStatuses = reported.ContainerStatuses
	merged.EphemeralContainerStatuses = reported.EphemeralContainerStatuses
	merged.Conditions = mergeConditions(published.Conditions, reported.Conditions)
	return merged
}

// mergeConditions keeps the conditions of others, and the published transition
// time where the condition's status is unchanged. A condition that only a node
// sets disappears when it is no longer reported.
func mergeConditions(published, reported []corev1.PodCondition) []corev1.PodCondition {
	var merged []corev1.PodCondition
	for _, old := range published {
		i := slices.IndexFunc(reported, func(c corev1.PodCondition) bool { return c.Type == old.Type })
		switch {
		case i >= 0:
			c := reported[i]
			if c.Status == old.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			merged = append(merged, c)
		case !setByNode(old.Type):
			merged = append(merged, old)
		}
	}
	for _, c := range reported {
		if !slices.ContainsFunc(published, func(old corev1.PodCondition) bool { return old.Type == c.Type }) {
			merged = append(merged, c)
		}
	}
	return merged
}

// setByNode tells the conditions that nobody but the node sets. PodScheduled
// is not one of them: the scheduler does.
func setByNode(t corev1.PodConditionType) bool {
	return t == corev1.PodInitialized || t == corev1.PodReady || t == corev1.ContainersReady
}
