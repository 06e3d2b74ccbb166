// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
)

func TestConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		got    nodeobject.Condition
		kind   corev1.NodeConditionType
		status corev1.ConditionStatus
		reason string
	}{
		"not asked":          {sandboxdReachable(sandboxes.Reach{}), "SandboxdReachable", corev1.ConditionUnknown, "NotAskedYet"},
		"answers":            {sandboxdReachable(sandboxes.Reach{Known: true}), "SandboxdReachable", corev1.ConditionTrue, "SandboxdAnswers"},
		"no answer":          {sandboxdReachable(failed(&sandboxd.Error{Class: sandboxd.Unreachable})), "SandboxdReachable", corev1.ConditionFalse, "SandboxdUnreachable"},
		"credential refused": {sandboxdReachable(failed(&sandboxd.Error{Class: sandboxd.Unauthorized})), "SandboxdReachable", corev1.ConditionFalse, "CredentialRefused"},
		"fails":              {sandboxdReachable(failed(&sandboxd.Error{Class: sandboxd.Unavailable})), "SandboxdReachable", corev1.ConditionFalse, "SandboxdFails"},
		"something else":     {sandboxdReachable(failed(errors.New("x"))), "SandboxdReachable", corev1.ConditionFalse, "SandboxdFails"},
		"place not read":     {claimsTableAccepted(place.Status{State: place.Unknown}), "ClaimsTableAccepted", corev1.ConditionUnknown, "NotReadYet"},
		"accepted":           {claimsTableAccepted(place.Status{State: place.Accepted}), "ClaimsTableAccepted", corev1.ConditionTrue, "TableBelongsHere"},
		"other cluster":      {claimsTableAccepted(place.Status{State: place.OtherCluster}), "ClaimsTableAccepted", corev1.ConditionFalse, "OtherCluster"},
		"other host":         {claimsTableAccepted(place.Status{State: place.OtherHost}), "ClaimsTableAccepted", corev1.ConditionFalse, "OtherHost"},
		"table written":      {claimsTableWritable(claims.Writes{}), "ClaimsTableWritable", corev1.ConditionTrue, "TableWritten"},
		"table not written":  {claimsTableWritable(claims.Writes{Err: errors.New("disk full")}), "ClaimsTableWritable", corev1.ConditionFalse, "WriteFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got.Type != tc.kind || tc.got.Status != tc.status || tc.got.Reason != tc.reason || tc.got.Message == "" {
				t.Errorf("condition = %+v", tc.got)
			}
		})
	}
}

func failed(err error) sandboxes.Reach { return sandboxes.Reach{Known: true, Err: err} }
