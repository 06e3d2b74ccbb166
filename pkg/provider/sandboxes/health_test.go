// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// Each change is logged once, whatever the number of checks.
func TestHealth(t *testing.T) {
	node := fakes.NewSandboxd()
	h := NewHealth(node)
	if c := h.Condition(); c.Type != "SandboxdReachable" || c.Status != metav1.ConditionUnknown || c.Reason != "NotAskedYet" || c.Message == "" {
		t.Errorf("condition before the first check: %+v", c)
	}
	refused := &sandboxd.Error{Op: "info", Class: sandboxd.Unauthorized, Status: 401}
	for i, step := range []struct {
		err    error
		status metav1.ConditionStatus
		reason string
		logged string
	}{
		{nil, metav1.ConditionTrue, "SandboxdAnswers", ""},
		{fakes.Unreachable(), metav1.ConditionFalse, "SandboxdUnreachable", "cannot be used"},
		{fakes.Unreachable(), metav1.ConditionFalse, "SandboxdUnreachable", ""},
		{refused, metav1.ConditionFalse, "CredentialRefused", "cannot be used"},
		{fakes.Failing("info"), metav1.ConditionFalse, "SandboxdFails", "cannot be used"},
		{errors.New("anything"), metav1.ConditionFalse, "SandboxdFails", "cannot be used"},
		{nil, metav1.ConditionTrue, "SandboxdAnswers", "can be used again"},
		{nil, metav1.ConditionTrue, "SandboxdAnswers", ""},
	} {
		var log bytes.Buffer
		ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
		node.InfoErr = step.err
		h.Check(ctx)
		if c := h.Condition(); c.Type != "SandboxdReachable" || c.Status != step.status || c.Reason != step.reason || c.Message == "" {
			t.Errorf("step %d: condition %+v, want %s %s", i, c, step.status, step.reason)
		}
		if got := log.String(); (got == "") != (step.logged == "") || !strings.Contains(got, step.logged) {
			t.Errorf("step %d: logged %q, want %q in it", i, got, step.logged)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	node.InfoErr = fakes.Unreachable()
	if h.Check(ctx); h.Condition().Status != metav1.ConditionTrue {
		t.Error("a check that was cancelled counts")
	}
}
