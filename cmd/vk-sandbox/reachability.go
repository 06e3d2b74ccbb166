// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// reachability puts what the provider knows of sandboxd into the words of the
// Node's condition.
func reachability(r provider.Reach) virtualnode.Reachability {
	switch {
	case !r.Known:
		return virtualnode.Reachability{Status: corev1.ConditionUnknown, Reason: "NotAskedYet", Message: "sandboxd has not been asked yet"}
	case r.Err == nil:
		return virtualnode.Reachability{Status: corev1.ConditionTrue, Reason: "SandboxdAnswers", Message: "sandboxd answers and accepts the node's credential"}
	}
	reason := "SandboxdFails"
	switch sandboxd.ClassOf(r.Err) {
	case sandboxd.Unreachable:
		reason = "SandboxdUnreachable"
	case sandboxd.Unauthorized:
		reason = "CredentialRefused"
	}
	return virtualnode.Reachability{Status: corev1.ConditionFalse, Reason: reason, Message: r.Err.Error()}
}
