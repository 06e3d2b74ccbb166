// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

func TestConditions(t *testing.T) {
	answers := metav1.Condition{Type: api.ConditionSandboxdReachable, Status: metav1.ConditionTrue, Reason: "SandboxdAnswers", Message: "yes"}
	silent := metav1.Condition{Type: api.ConditionSandboxdReachable, Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable", Message: "no"}
	notAsked := metav1.Condition{Type: api.ConditionSandboxdReachable, Status: metav1.ConditionUnknown, Reason: "NotAskedYet", Message: "not asked"}
	full := fmt.Errorf("sync /var/lib/x: %w", syscall.ENOSPC)
	tests := []struct {
		name        string
		writeErr    error
		quarantined int64
		reach       metav1.Condition
		want        []string
		ready       string // in Ready's message
	}{
		{"all is well", nil, 0, answers,
			[]string{"Ready=True ClaimsServed", "ClaimsTableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=True SandboxdAnswers"}, "serves"},
		{"just started", nil, 2, notAsked,
			[]string{"Ready=False ClaimsQuarantined", "ClaimsTableDurable=True Written", "ClaimsVerified=False ClaimsQuarantined", "SandboxdReachable=Unknown NotAskedYet"}, "ClaimsVerified: "},
		{"just started, with an empty table", nil, 0, notAsked,
			[]string{"Ready=Unknown NotAskedYet", "ClaimsTableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=Unknown NotAskedYet"}, "SandboxdReachable: not asked"},
		{"sandboxd is away", nil, 0, silent,
			[]string{"Ready=False SandboxdUnreachable", "ClaimsTableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=False SandboxdUnreachable"}, "SandboxdReachable: no"},
		{"the disk is full, and nothing else works", full, 1, silent,
			[]string{"Ready=False WriteFailed", "ClaimsTableDurable=False WriteFailed", "ClaimsVerified=False ClaimsQuarantined", "SandboxdReachable=False SandboxdUnreachable"}, "ClaimsTableDurable: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conditions := conditions(claims.Writes{Err: tt.writeErr}.Condition(), claimsVerified(tt.quarantined), tt.reach)
			var got []string
			for _, c := range conditions {
				got = append(got, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
				if c.Message == "" {
					t.Errorf("%s has no message", c.Type)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if !strings.Contains(conditions[0].Message, tt.ready) {
				t.Errorf("Ready says %q, want %q in it", conditions[0].Message, tt.ready)
			}
		})
	}
}

func TestKeepTransitions(t *testing.T) {
	earlier, now := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	condition := func(status metav1.ConditionStatus, reason string, at metav1.Time) metav1.Condition {
		return metav1.Condition{Type: "X", Status: status, Reason: reason, Message: reason, LastTransitionTime: at}
	}
	for name, tc := range map[string]struct {
		before []metav1.Condition
		want   metav1.Time
	}{
		"none before":        {nil, now},
		"another type":       {[]metav1.Condition{{Type: "Y", Status: metav1.ConditionTrue, LastTransitionTime: earlier}}, now},
		"same status":        {[]metav1.Condition{condition(metav1.ConditionTrue, "Old", earlier)}, earlier},
		"another status":     {[]metav1.Condition{condition(metav1.ConditionFalse, "Old", earlier)}, now},
		"no transition time": {[]metav1.Condition{condition(metav1.ConditionTrue, "Old", metav1.Time{})}, now},
	} {
		got := []metav1.Condition{condition(metav1.ConditionTrue, "New", metav1.Time{})}
		keepTransitions(got, tc.before, now)
		if want := condition(metav1.ConditionTrue, "New", tc.want); got[0] != want {
			t.Errorf("%s: %+v, want %+v", name, got[0], want)
		}
	}
}
