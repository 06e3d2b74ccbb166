// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// Reasons of the conditions. Those of SandboxdReachable come from outside.
const (
	reasonReady       = "ClaimsServed"
	reasonWritten     = "Written"
	reasonWriteFailed = "WriteFailed"
	reasonVerified    = "Verified"
	reasonQuarantined = "ClaimsQuarantined"
)

// maxMessage bounds the text of a condition, in characters.
const maxMessage = 512

// conditions are the four conditions, without transition times.
func conditions(writeErr error, counts api.ClaimCounts, reach Reachability) []metav1.Condition {
	others := []metav1.Condition{
		tableDurable(writeErr),
		claimsVerified(counts.Quarantined),
		{
			Type: api.ConditionSandboxdReachable, Status: reach.Status,
			Reason: reach.Reason, Message: cut(reach.Message, maxMessage),
		},
	}
	return append([]metav1.Condition{ready(others)}, others...)
}

func tableDurable(err error) metav1.Condition {
	c := metav1.Condition{
		Type: api.ConditionTableDurable, Status: metav1.ConditionTrue,
		Reason: reasonWritten, Message: "the claims file has all that the table has",
	}
	if err != nil {
		c.Status, c.Reason = metav1.ConditionFalse, reasonWriteFailed
		c.Message = "the claims file is behind the table, and no claim is made meanwhile: " + writeFailure(err)
	}
	return c
}

// writeFailure classes what the file system said; its own words name paths.
func writeFailure(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the file system of the claims file is full"
	case errors.Is(err, syscall.EROFS):
		return "the file system of the claims file is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "the directory of the claims file may not be written"
	default:
		return "writing it fails; the daemon's log says how"
	}
}

func claimsVerified(quarantined int64) metav1.Condition {
	c := metav1.Condition{
		Type: api.ConditionClaimsVerified, Status: metav1.ConditionTrue,
		Reason: reasonVerified, Message: "no claim waits for sandboxd's word",
	}
	if quarantined > 0 {
		c.Status, c.Reason = metav1.ConditionFalse, reasonQuarantined
		c.Message = fmt.Sprintf("claims that sandboxd has not spoken of since the daemon started: %d", quarantined)
	}
	return c
}

// ready is True when all others are; else it says what the first one says that
// is False, or for want of one that is Unknown.
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
		Reason: reasonReady, Message: "the node serves claims",
	}
}

// keepTransitions gives each condition the transition time it had before, unless
// its status is another now.
func keepTransitions(conditions, before []metav1.Condition, now metav1.Time) {
	for i := range conditions {
		c := &conditions[i]
		c.LastTransitionTime = now
		for _, old := range before {
			if old.Type == c.Type && old.Status == c.Status && !old.LastTransitionTime.IsZero() {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
}
