// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

const (
	messageLeaseExpired = "the lease of the sandbox ended and the node has destroyed it"
	messageLost         = "the node no longer holds the sandbox that this pod ran on"
)

// SandboxGone handles a claim whose sandbox is confirmed gone. If the claim has not
// changed since the listing, the Pod that holds it ends. The row stays until the Pod is
// deleted, so that after a restart the Pod is not taken for one that never had a sandbox.
// The row of a claim without a Pod is dropped once it is expendable. SandboxGone takes
// the key's lock itself.
func (b *Binder) SandboxGone(ctx context.Context, seen claims.Claim) {
	defer b.pods.Lock(seen.Key)()
	c, ok := b.table.Get(seen.Key)
	if !ok || c.ID != seen.ID {
		return
	}
	t, ok := b.pods.Get(c.Key)
	switch {
	case ok && t.Pod.UID == c.PodUID && !b.pods.HasNoPod(c):
		if t.End == nil {
			b.endPod(pods.WithLogger(ctx, t.Pod), c)
		}
	case b.podsSynced() && b.pods.HasNoPod(c) && b.index.RowExpendable(c, time.Now()):
		reason, message := whyGone(c)
		klog.FromContext(ctx).Info("dropped a claim: no pod holds it and the node no longer has its sandbox", "key", c.Key, "claim", c.ID, "reason", reason)
		b.events.ClaimEnded(c, reason, message)
		b.releases.Forget(ctx, c)
	}
}

// endPod makes the tracked Pod terminal and publishes its status.
func (b *Binder) endPod(ctx context.Context, c claims.Claim) {
	e := pods.Ending{Binding: pods.BindingOf(c), At: time.Now()}
	e.Reason, e.Message = whyGone(c)
	b.pods.MarkEnded(c.Key, e)
	klog.FromContext(ctx).Info("pod ended: "+e.Message, "claim", c.ID, "reason", e.Reason, "deadline", c.Deadline)
	b.events.ClaimEnded(c, e.Reason, e.Message)
	b.statuses.Enqueue(c.Key)
}

// whyGone distinguishes an ended lease from a sandbox that was lost before its end.
func whyGone(c claims.Claim) (reason, message string) {
	if c.Expired(time.Now()) {
		return podstatus.ReasonLeaseExpired, messageLeaseExpired
	}
	return podstatus.ReasonLost, messageLost
}

// ensureLost ends a Pod whose published sandbox has no claim here, once the sandbox is
// confirmed gone.
func (b *Binder) ensureLost(ctx context.Context, pod *corev1.Pod, id string) error {
	gone, err := b.index.ConfirmGone(ctx, claims.Claim{Key: podcontract.Key(pod), Row: claims.Row{ID: id}, State: claims.Quarantined})
	if err != nil {
		return ErrAwaitingNode
	}
	if !gone {
		if c, ok := b.table.Get(podcontract.Key(pod)); ok && c.ID == id {
			return fmt.Errorf("sandbox %s, owner %s: %w", id, ownerName(c.Controller), errKeptForOther)
		}
		klog.FromContext(ctx).Error(nil, "a sandbox of this pod is alive and its release credential is not in the claims table; it runs until its lease ends", "claim", id)
		return errNoCredential
	}
	b.pods.Track(pod)
	b.pods.MarkEnded(podcontract.Key(pod), pods.Ending{Binding: pods.PublishedBinding(pod), Reason: podstatus.ReasonLost, Message: messageLost, At: time.Now()})
	klog.FromContext(ctx).Info("pod ended: the node no longer holds its sandbox", "claim", id, "reason", podstatus.ReasonLost)
	b.events.PodEnded(pod, podstatus.ReasonLost, messageLost)
	return nil
}
