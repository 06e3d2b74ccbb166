// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
)

// conditionClaimsTableAccepted tells whether the claims table belongs to this
// cluster and host.
const conditionClaimsTableAccepted corev1.NodeConditionType = "ClaimsTableAccepted"

// claimsTableAccepted puts what the guard found into the words of that condition.
func claimsTableAccepted(s place.Status) nodeobject.Condition {
	c := nodeobject.Condition{Type: conditionClaimsTableAccepted, Status: corev1.ConditionFalse, Reason: string(s.State), Message: s.String()}
	switch s.State {
	case place.Accepted:
		c.Status, c.Reason = corev1.ConditionTrue, "TableBelongsHere"
	case place.Unknown:
		c.Status, c.Reason = corev1.ConditionUnknown, "NotReadYet"
	}
	return c
}

// sandboxdReachable puts what the provider knows of sandboxd into the words of
// the Node's condition.
func sandboxdReachable(r sandboxes.Reach) nodeobject.Condition {
	c := nodeobject.Condition{Type: nodeobject.ConditionSandboxdReachable}
	switch {
	case !r.Known:
		c.Status, c.Reason, c.Message = corev1.ConditionUnknown, "NotAskedYet", "sandboxd has not been asked yet"
	case r.Err == nil:
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "SandboxdAnswers", "sandboxd answers and accepts the node's credential"
	default:
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "SandboxdFails", r.Err.Error()
		switch sandboxd.ClassOf(r.Err) {
		case sandboxd.Unreachable:
			c.Reason = "SandboxdUnreachable"
		case sandboxd.Unauthorized:
			c.Reason = "CredentialRefused"
		}
	}
	return c
}

// claimsTableWritable does the same for the newest write of the claims table.
func claimsTableWritable(w claims.Writes) nodeobject.Condition {
	if w.Err != nil {
		return nodeobject.Condition{
			Type: nodeobject.ConditionClaimsTableWritable, Status: corev1.ConditionFalse,
			Reason: "WriteFailed", Message: "no claim is made until the claims table can be written: " + w.Err.Error(),
		}
	}
	return nodeobject.Condition{
		Type: nodeobject.ConditionClaimsTableWritable, Status: corev1.ConditionTrue,
		Reason: "TableWritten", Message: "the claims table is on disk",
	}
}
