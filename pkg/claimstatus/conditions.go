// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// maxMessage bounds the text of a condition, in characters.
const maxMessage = 512

// conditions returns others after the Ready condition computed from them.
func conditions(others ...metav1.Condition) []metav1.Condition {
	for i := range others {
		others[i].Message = cut(others[i].Message, maxMessage)
	}
	return append([]metav1.Condition{ready(others)}, others...)
}

func claimsVerified(quarantined int64) metav1.Condition {
	c := metav1.Condition{
		Type: api.ConditionClaimsVerified, Status: metav1.ConditionTrue,
		Reason: "Verified", Message: "sandboxd has confirmed every claim",
	}
	if quarantined > 0 {
		c.Status, c.Reason = metav1.ConditionFalse, "ClaimsQuarantined"
		c.Message = fmt.Sprintf("claims that sandboxd has not confirmed since the daemon started: %d", quarantined)
	}
	return c
}

// ready is True if all others are. Otherwise it repeats the first one that is False, or
// else the first that is Unknown.
func ready(others []metav1.Condition) metav1.Condition {
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, c := range others {
			if c.Status == status {
				return metav1.Condition{
					Type: api.ConditionReady, Status: status,
					Reason: c.Reason, Message: cut(c.Type+": "+c.Message, maxMessage),
				}
			}
		}
	}
	return metav1.Condition{
		Type: api.ConditionReady, Status: metav1.ConditionTrue,
		Reason: "ClaimsServed", Message: "the node serves claims",
	}
}

// keepTransitions keeps the earlier transition time of each condition whose status has
// not changed.
func keepTransitions(conditions, before []metav1.Condition, now metav1.Time) {
	for i := range conditions {
		c := &conditions[i]
		c.LastTransitionTime = now
		old := meta.FindStatusCondition(before, c.Type)
		if old == nil || old.LastTransitionTime.IsZero() {
			continue
		}
		kept := []metav1.Condition{*old}
		meta.SetStatusCondition(&kept, *c)
		*c = kept[0]
	}
}
