// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// statusPatch returns the strategic merge patch from base, the API server's Pod, to the
// status of pod; nil if nothing changes.
//
// The patch contains the Pod's UID and version, so that the API server refuses it for any
// other Pod, and for this Pod if it has changed: it may have ended, and a terminal phase
// is never reverted. Of the metadata the patch touches only the claim-id annotation,
// which it sets or changes but never removes: when the library reports a failed create,
// its Pod is the API server's and lacks our annotation.
//
// A condition whose status changes has changed now, unless pod reports a later time than
// base has.
func statusPatch(base, pod *corev1.Pod, now time.Time) ([]byte, error) {
	before := corev1.Pod{Status: base.Status}
	after := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: base.UID, ResourceVersion: base.ResourceVersion},
		Status:     mergeStatus(base.Status, pod.Status, metav1.NewTime(now.UTC().Truncate(time.Second))),
	}
	if id := pod.Annotations[podcontract.AnnotationClaimID]; id != "" && id != base.Annotations[podcontract.AnnotationClaimID] {
		after.Annotations = map[string]string{podcontract.AnnotationClaimID: id}
	}
	patch, err := diff(before, after)
	if err != nil {
		return nil, err
	}
	// A patch of the preconditions alone changes nothing.
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

// mergeStatus takes the fields that a node reports from reported, and all others from
// published: those belong to the API server, the scheduler and controllers.
func mergeStatus(published, reported corev1.PodStatus, now metav1.Time) corev1.PodStatus {
	merged := *published.DeepCopy()
	merged.ObservedGeneration = reported.ObservedGeneration
	merged.Phase, merged.Reason, merged.Message = reported.Phase, reported.Reason, reported.Message
	merged.HostIP, merged.HostIPs = reported.HostIP, reported.HostIPs
	merged.PodIP, merged.PodIPs = reported.PodIP, reported.PodIPs
	merged.StartTime = reported.StartTime
	merged.InitContainerStatuses = reported.InitContainerStatuses
	merged.ContainerStatuses = reported.ContainerStatuses
	merged.EphemeralContainerStatuses = reported.EphemeralContainerStatuses
	merged.Conditions = mergeConditions(published.Conditions, reported.Conditions, now)
	return merged
}

// mergeConditions keeps the conditions of others, and the published transition time if a
// condition's status is unchanged. A condition that only a node sets is removed when it
// is no longer reported.
func mergeConditions(published, reported []corev1.PodCondition, now metav1.Time) []corev1.PodCondition {
	var merged []corev1.PodCondition
	for _, old := range published {
		i := slices.IndexFunc(reported, func(c corev1.PodCondition) bool { return c.Type == old.Type })
		switch {
		case i >= 0:
			c := reported[i]
			if c.Status == old.Status {
				c.LastTransitionTime = old.LastTransitionTime
			} else if !old.LastTransitionTime.Before(&c.LastTransitionTime) {
				c.LastTransitionTime = now
			}
			merged = append(merged, c)
		case !podstatus.SetByNode(old.Type):
			merged = append(merged, old)
		}
	}
	for _, c := range reported {
		if slices.ContainsFunc(published, func(old corev1.PodCondition) bool { return old.Type == c.Type }) {
			continue
		}
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = now
		}
		merged = append(merged, c)
	}
	return merged
}
