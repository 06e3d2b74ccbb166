// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// displaced is a claim whose name goes to a new claim.
type displaced struct {
	claims.Claim
	// gone is true for the Pod's own claim, whose sandbox the node no longer has; false
	// for a claim of another owner.
	gone bool
}

// claim claims a new sandbox for the Pod and makes the claim durable, in place of the old
// one, which then moves to the release queue. If the claim cannot be made durable, its
// sandbox is returned.
func (b *Binder) claim(ctx context.Context, pod *corev1.Pod, old *displaced) error {
	req, err := podcontract.ClaimRequest(pod)
	if err != nil {
		return err
	}
	pass, err := b.capacity.admit(time.Now())
	if err != nil {
		return err
	}
	// Without a working disk every sandbox would have to be returned.
	if err := b.table.Flush(); err != nil {
		pass.skip()
		return NotDurable(err)
	}
	// A claim is not cancelled when the daemon stops: sandboxd would have made a VM
	// whose token nobody received.
	ctx = context.WithoutCancel(ctx)
	got, err := b.client.Claim(ctx, req)
	pass.done(err, time.Now())
	if got.ID == "" {
		if sandboxd.OutcomeUnknown(err) {
			klog.FromContext(ctx).Error(err, "the outcome of a claim is unknown; a sandbox made for it carries this claim_ref and ends with its lease", "claimRef", req.ClaimRef)
		}
		return err
	}
	key, row := podcontract.Key(pod), claims.NewRow(got, b.pods.Holder(pod), time.Now())
	var taken *claims.Claim
	if old != nil {
		taken = &old.Claim
	}
	if addErr := b.table.Add(key, row, taken); addErr != nil {
		return b.keepForRetry(ctx, pod, addErr)
	}
	if old != nil {
		b.displace(ctx, pod, *old)
	}
	if err != nil {
		// The answer named a sandbox but could not be read in full.
		b.releases.Enqueue(ctx, claims.Claim{Key: key, Row: row})
		return err
	}
	klog.FromContext(ctx).Info("claimed a sandbox", "claim", got.ID, "address", got.OwnerAddr, "deadline", got.Deadline)
	b.events.Claimed(pod)
	if problem := podstatus.AddressProblem(got.OwnerAddr); problem != "" {
		klog.FromContext(ctx).Info("the pod is published without an address", "claim", got.ID, "problem", problem)
		b.events.AddressUnusable(pod, problem)
	}
	b.ownerCheck.Cancel(key)
	b.pods.Track(pod)
	return nil
}

// displace releases the claim whose name the Pod's new claim has taken, and records why.
func (b *Binder) displace(ctx context.Context, pod *corev1.Pod, old displaced) {
	b.releases.Wake()
	logger := klog.FromContext(ctx).WithValues("displaced", old.ID)
	if old.gone {
		logger.Info("the node no longer had the sandbox that was kept for this pod", "deadline", old.Deadline)
		b.events.KeptSandboxLost(pod)
		return
	}
	logger.Info("the claim under this name belonged to another owner; its sandbox is released")
	b.events.Released(old.Claim, "a pod of another owner has taken its name")
}

// keepForRetry returns the sandbox of a claim that could not be written. If that fails
// too, the Pod and the credential are kept, and [Binder.EnsureClaim] returns the sandbox
// before it takes a new one.
func (b *Binder) keepForRetry(ctx context.Context, pod *corev1.Pod, addErr error) error {
	c, held := b.table.Get(podcontract.Key(pod))
	if errors.Is(addErr, claims.ErrOtherClaim) || !held || c.State != claims.Tentative {
		// The table keeps the credential in its releasing list.
		b.releases.Wake()
		return fmt.Errorf("record the claim: %w", addErr)
	}
	if err := b.ReturnClaim(ctx, c); err != nil {
		klog.FromContext(ctx).Error(err, "a claim could neither be recorded nor returned; keeping its credential", "claim", c.ID)
		b.pods.Track(pod)
	}
	return NotDurable(addErr)
}

// ReturnClaim returns the sandbox of a tentative claim, which no Pod ever used. Nil means
// that the key is free: sandboxd has confirmed the release, or the release queue retries
// until it does.
func (b *Binder) ReturnClaim(ctx context.Context, c claims.Claim) error {
	if err := b.table.EnsureDurable(); err != nil {
		return NotDurable(err)
	}
	gone, err := b.releases.Destroy(ctx, c)
	if err != nil {
		return fmt.Errorf("return a sandbox: %w", err)
	}
	if !gone {
		b.releases.Enqueue(ctx, c)
		return nil
	}
	klog.FromContext(ctx).Info("returned a sandbox whose claim could not be recorded", "claim", c.ID)
	b.releases.Forget(ctx, c)
	return nil
}
