// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// InfoClient is the part of sandboxd's API that Health uses. The answer requires a valid
// credential.
type InfoClient interface {
	Info(context.Context) (sandboxd.Info, error)
}

// Health checks whether sandboxd can be used. It is safe for concurrent use.
type Health struct {
	client InfoClient

	mu         sync.Mutex
	conditions []metav1.Condition // exactly one
}

// NewHealth returns a Health whose condition is Unknown.
func NewHealth(client InfoClient) *Health {
	return &Health{client: client, conditions: []metav1.Condition{{
		Type: api.ConditionSandboxdReachable, Status: metav1.ConditionUnknown,
		Reason: "NotAskedYet", Message: "sandboxd has not been asked yet",
	}}}
}

// Condition returns whether sandboxd answered the last check and accepted this node's
// credential; Unknown before the first check. Its texts change only with its status. It
// never blocks.
func (h *Health) Condition() metav1.Condition {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conditions[0]
}

// Check asks sandboxd for its info, and logs when the result changes.
func (h *Health) Check(ctx context.Context) {
	_, err := h.client.Info(ctx)
	if ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	last := h.conditions[0].Status
	changed := meta.SetStatusCondition(&h.conditions, reachable(err))
	h.mu.Unlock()
	switch {
	case changed && err != nil:
		klog.FromContext(ctx).Error(err, "sandboxd cannot be used; claims and releases wait for it")
	case err == nil && last == metav1.ConditionFalse:
		klog.FromContext(ctx).Info("sandboxd can be used again")
	}
}

// reachable is the condition for the result of a call.
func reachable(err error) metav1.Condition {
	c := metav1.Condition{Type: api.ConditionSandboxdReachable}
	if err == nil {
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "SandboxdAnswers", "sandboxd answers and accepts the node's credential"
		return c
	}
	c.Status, c.Reason, c.Message = metav1.ConditionFalse, "SandboxdFails", err.Error()
	switch sandboxd.ClassOf(err) {
	case sandboxd.Unreachable:
		c.Reason = "SandboxdUnreachable"
	case sandboxd.Unauthorized:
		c.Reason = "CredentialRefused"
	}
	return c
}
