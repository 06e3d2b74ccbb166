// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// EnsureClaim finds or makes the Pod's claim, and tracks the Pod. Nil means that the Pod
// has its claim, or has ended because its sandbox is gone. [ErrAwaitingNode] means that
// sandboxd has to answer first.
func (b *Binder) EnsureClaim(ctx context.Context, pod *corev1.Pod) error {
	c, held := b.table.Get(podcontract.Key(pod))
	if held && c.State == claims.Tentative {
		if err := b.ReturnClaim(ctx, c); err != nil {
			b.pods.Track(pod)
			return err
		}
		held = false
	}
	if held && c.PodUID == pod.UID {
		// The annotations were read when the Pod was claimed. A later edit does not end
		// the Pod.
		return b.ensureHeld(ctx, pod, c)
	}
	if err := podcontract.CheckRuntime(pod); err != nil && podstatus.ClaimID(pod) == "" {
		return err
	}
	switch {
	case !held:
		return b.ensureNew(ctx, pod, nil)
	case !c.AdoptableBy(b.pods.Holder(pod)):
		b.ownerCheck.Displaced(c)
		return b.ensureNew(ctx, pod, &displaced{Claim: c})
	default:
		return b.ensureKept(ctx, pod, c)
	}
}

// ensureHeld uses the claim that names the Pod.
func (b *Binder) ensureHeld(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	switch {
	case c.State == claims.Quarantined:
		return ErrAwaitingNode
	case c.Expired(time.Now()):
		return b.ensureExpired(ctx, pod, c)
	default:
		return b.adopt(ctx, pod, c)
	}
}

// ensureExpired decides whether a Pod whose cached lease has ended keeps its claim.
// sandboxd is asked first, because leases can be extended.
func (b *Binder) ensureExpired(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	gone, err := b.index.ConfirmGone(ctx, c)
	switch {
	case err != nil:
		return ErrAwaitingNode
	case !gone:
		return b.adopt(ctx, pod, c)
	default:
		b.pods.Track(pod)
		b.endPod(ctx, c)
		return nil
	}
}

// ensureKept lets a Pod adopt the claim that another Pod of its authority left. sandboxd
// is asked first, because an unused sandbox can end before its lease. A sandbox that is
// gone is replaced; the release queue keeps its credential until that is certain.
func (b *Binder) ensureKept(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	if id := podstatus.ClaimID(pod); id != "" && id != c.ID {
		return b.ensureLost(ctx, pod, id) // it ran on another sandbox, for example before a backup was restored
	}
	_, err := b.client.Get(ctx, c.ID)
	gone := false
	if sandboxd.ClassOf(err) == sandboxd.NotFound {
		gone, err = b.index.ConfirmGone(ctx, c)
	}
	switch {
	case err != nil:
		return ErrAwaitingNode
	case gone:
		return b.ensureNew(ctx, pod, &displaced{Claim: c, gone: true})
	case c.State == claims.Quarantined:
		return ErrAwaitingNode // the verification loop confirms it
	default:
		return b.adopt(ctx, pod, c)
	}
}

// adopt binds an existing claim to the Pod: the same VM, no second claim.
func (b *Binder) adopt(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	if holder := b.pods.Holder(pod); !c.HeldBy(holder) || c.State != claims.Bound || !c.Durable {
		err := b.table.Bind(c.Key, c.ID, holder)
		held := c.PodUID == pod.UID && c.Durable
		if err != nil && !held {
			return NotDurable(err)
		}
		if err != nil {
			// The file already names the Pod as the holder. An error would end a running
			// Pod because of a full disk.
			klog.FromContext(ctx).Error(err, "the change of the pod's owner is not in the claims file yet; it is written again later", "claim", c.ID)
		}
	}
	if c.PodUID != pod.UID || c.State == claims.Preserved {
		klog.FromContext(ctx).Info("pod adopted its claim", "claim", c.ID, "previousPodUID", c.PodUID)
		b.events.Adopted(pod)
	}
	b.ownerCheck.Cancel(c.Key)
	b.pods.Track(pod)
	return nil
}

// ensureNew claims a new sandbox, unless the Pod was published as running on a sandbox
// without a claim here: a lost VM must not be replaced silently under the same Pod.
func (b *Binder) ensureNew(ctx context.Context, pod *corev1.Pod, old *displaced) error {
	if id := podstatus.ClaimID(pod); id != "" {
		return b.ensureLost(ctx, pod, id)
	}
	return b.claim(ctx, pod, old)
}

// Follow records the Pod's current controller if the table names another one. A
// controller can adopt, hand over or orphan a running Pod, and the verdict about the
// sandbox must be that of the current controller.
func (b *Binder) Follow(ctx context.Context, pod *corev1.Pod, c claims.Claim) {
	holder := b.pods.Holder(pod)
	if c.PodUID != pod.UID || c.State == claims.Tentative || c.ControlledAs(holder) {
		return
	}
	logger := klog.FromContext(ctx).WithValues("claim", c.ID, "previous", ownerName(c.Controller), "controller", ownerName(holder.Controller))
	if err := b.table.Follow(c.Key, c.ID, holder); err != nil {
		logger.Error(err, "the pod's new controller is not in the claims file yet; it is written again later")
		return
	}
	if !claims.SameOwner(c.Controller, holder.Controller) {
		logger.Info("the pod has another controller")
	}
}
