// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

func TestConditions(t *testing.T) {
	answers := Reachability{Status: metav1.ConditionTrue, Reason: "SandboxdAnswers", Message: "yes"}
	silent := Reachability{Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable", Message: "no"}
	notAsked := Reachability{Status: metav1.ConditionUnknown, Reason: "NotAskedYet", Message: "not asked"}
	full := fmt.Errorf("sync /var/lib/x: %w", syscall.ENOSPC)
	tests := []struct {
		name        string
		writeErr    error
		quarantined int64
		reach       Reachability
		want        []string
		ready       string // in Ready's message
	}{
		{"all is well", nil, 0, answers,
			[]string{"Ready=True ClaimsServed", "TableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=True SandboxdAnswers"}, "serves"},
		{"just started", nil, 2, notAsked,
			[]string{"Ready=False ClaimsQuarantined", "TableDurable=True Written", "ClaimsVerified=False ClaimsQuarantined", "SandboxdReachable=Unknown NotAskedYet"}, "ClaimsVerified: "},
		{"just started, with an empty table", nil, 0, notAsked,
			[]string{"Ready=Unknown NotAskedYet", "TableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=Unknown NotAskedYet"}, "SandboxdReachable: not asked"},
		{"sandboxd is away", nil, 0, silent,
			[]string{"Ready=False SandboxdUnreachable", "TableDurable=True Written", "ClaimsVerified=True Verified", "SandboxdReachable=False SandboxdUnreachable"}, "SandboxdReachable: no"},
		{"the disk is full, and nothing else works", full, 1, silent,
			[]string{"Ready=False WriteFailed", "TableDurable=False WriteFailed", "ClaimsVerified=False ClaimsQuarantined", "SandboxdReachable=False SandboxdUnreachable"}, "TableDurable: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conditions := conditions(tt.writeErr, api.ClaimCounts{Quarantined: tt.quarantined}, tt.reach)
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

func TestWriteFailuresAreClassed(t *testing.T) {
	for want, cause := range map[string]error{
		"is full":      syscall.ENOSPC,
		"is read-only": syscall.EROFS,
		"may not be":   fs.ErrPermission,
		"daemon's log": errors.New("anything"),
	} {
		got := tableDurable(fmt.Errorf("write /secret/path: %w", cause)).Message
		if !strings.Contains(got, want) || strings.Contains(got, "/secret/path") {
			t.Errorf("message %q for %v, want %q in it and no path", got, cause, want)
		}
	}
}
