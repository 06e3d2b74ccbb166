// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func TestReachability(t *testing.T) {
	for name, tc := range map[string]struct {
		reach  provider.Reach
		status corev1.ConditionStatus
		reason string
	}{
		"not asked":          {provider.Reach{}, corev1.ConditionUnknown, "NotAskedYet"},
		"answers":            {provider.Reach{Known: true}, corev1.ConditionTrue, "SandboxdAnswers"},
		"no answer":          {provider.Reach{Known: true, Err: &sandboxd.Error{Class: sandboxd.Unreachable}}, corev1.ConditionFalse, "SandboxdUnreachable"},
		"credential refused": {provider.Reach{Known: true, Err: &sandboxd.Error{Class: sandboxd.Unauthorized}}, corev1.ConditionFalse, "CredentialRefused"},
		"fails":              {provider.Reach{Known: true, Err: &sandboxd.Error{Class: sandboxd.Unavailable}}, corev1.ConditionFalse, "SandboxdFails"},
		"something else":     {provider.Reach{Known: true, Err: errors.New("x")}, corev1.ConditionFalse, "SandboxdFails"},
	} {
		t.Run(name, func(t *testing.T) {
			got := reachability(tc.reach)
			if got.Status != tc.status || got.Reason != tc.reason || got.Message == "" {
				t.Errorf("reachability = %+v", got)
			}
		})
	}
}
