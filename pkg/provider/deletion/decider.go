// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deletion decides what happens to the claim of a Pod that is deleted or has
// vanished. The deletion of a Pod does not authorize destroying its VM: only the state of
// the Pod's owner releases the sandbox.
//
// Callers hold the lock of the Pod's key.
package deletion

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/binding"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// Binder returns tentative claims and records controllers.
type Binder interface {
	ReturnClaim(context.Context, claims.Claim) error
	Follow(context.Context, *corev1.Pod, claims.Claim)
}

// OwnerCheck reads owners, now or later.
type OwnerCheck interface {
	ReadVerdict(ctx context.Context, c claims.Claim, owner *claims.Owner) ownership.Decision
	Schedule(claims.Claim)
	Preserved(ctx context.Context, c claims.Claim, d ownership.Decision, seen bool)
}

// Releases destroys sandboxes.
type Releases interface {
	Destroy(context.Context, claims.Claim) (gone bool, err error)
	Forget(context.Context, claims.Claim)
	Enqueue(context.Context, claims.Claim)
}

// Statuses builds and publishes the statuses of Pods.
type Statuses interface {
	Status(pods.Tracked) (status corev1.PodStatus, claimID string)
	Enqueue(key string)
}

// Config configures a Decider. Every field is required.
type Config struct {
	Table      *claims.Table
	Pods       *pods.Manager
	Binder     Binder
	OwnerCheck OwnerCheck
	Releases   Releases
	Statuses   Statuses
	Events     *events.Recorder
	// PodClient removes deleted Pods once their claim is decided.
	PodClient corev1client.PodsGetter
}

// Decider decides the claims of deleted and vanished Pods. It is safe for concurrent use.
type Decider struct {
	table      *claims.Table
	pods       *pods.Manager
	binder     Binder
	ownerCheck OwnerCheck
	releases   Releases
	statuses   Statuses
	events     *events.Recorder
	podClient  corev1client.PodsGetter
}

// New returns a Decider.
func New(c Config) *Decider {
	return &Decider{
		table: c.Table, pods: c.Pods, binder: c.Binder, ownerCheck: c.OwnerCheck, releases: c.Releases,
		statuses: c.Statuses, events: c.Events, podClient: c.PodClient,
	}
}

// FinishDelete decides the Pod's claim and requests the removal of the Pod. Nil means
// decided: released, kept for the owner with the credential in the table, or left to the
// owner check because nobody saw the deletion. On error the Pod and the credential are
// kept, and the caller tries again. The deletion of an older Pod of the same name is
// ignored.
func (d *Decider) FinishDelete(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	t, tracked := d.pods.Get(key)
	if tracked && t.Pod.UID != pod.UID {
		klog.FromContext(ctx).Info("ignoring the deletion of an older pod of this name", "servedPodUID", t.Pod.UID)
		return nil
	}
	last, known := d.lastState(pod, t)
	if err := d.decideClaim(ctx, last, known, t); err != nil {
		return err
	}
	if !t.RemovalRequested {
		d.pods.MarkRemovalRequested(key)
		d.removeFromAPI(ctx, last.Final)
	}
	return nil
}

// lastState is how a Pod left: its newest object, whose owner decides, and whether its
// deletion was seen. known is false for a Pod that left unobserved or was decided before:
// virtual-kubelet's object can be older than the last change of the owner.
func (d *Decider) lastState(pod *corev1.Pod, t pods.Tracked) (last pods.Departure, known bool) {
	switch cached := d.pods.Cached(podcontract.Key(pod), pod.UID); {
	case cached != nil:
		return pods.Departure{Final: cached, Seen: true}, true
	case t.Gone != nil:
		return *t.Gone, true
	default:
		return pods.Departure{Final: pod}, false
	}
}

// deletedAt is the time of a deletion that was seen: the Pod is being deleted, or the
// watch showed that it is gone. It is zero if a list lacks the Pod, and if only
// virtual-kubelet takes the Pod for deleted.
func (d *Decider) deletedAt(last pods.Departure) time.Time {
	if !last.Seen || last.Final.DeletionTimestamp == nil && d.pods.InCache(last.Final) {
		return time.Time{}
	}
	return time.Now()
}

// decideClaim decides the claim of a deleted or vanished Pod.
func (d *Decider) decideClaim(ctx context.Context, last pods.Departure, known bool, t pods.Tracked) error {
	pod := last.Final
	c, held := d.table.Get(podcontract.Key(pod))
	if !held || c.PodUID != pod.UID {
		// The Pod holds no claim. A claim that another Pod left under this name is
		// decided by that claim's owner.
		d.endDeleted(pod, t, nil)
		return nil
	}
	if c.State == claims.Tentative {
		if err := d.binder.ReturnClaim(ctx, c); err != nil {
			return err
		}
		d.endDeleted(pod, t, nil)
		return nil
	}
	owner := pods.ControllerOf(pod)
	if !known {
		owner = c.Controller
	}
	if c.State == claims.Preserved && claims.SameOwner(c.Owner, owner) {
		d.endDeleted(pod, t, &c) // decided before
		return nil
	}
	if known {
		d.binder.Follow(ctx, pod, c)
	}
	verdict := d.ownerCheck.ReadVerdict(ctx, c, owner)
	switch {
	case !verdict.Release:
		if err := d.table.Preserve(c.Key, c.ID, owner, d.deletedAt(last)); err != nil {
			return binding.NotDurable(err)
		}
		klog.FromContext(ctx).WithValues(verdict.Attrs()...).Info("pod is gone, its sandbox is preserved", "claim", c.ID)
		d.events.Preserved(c, verdict)
		d.ownerCheck.Preserved(ctx, c, verdict, last.Seen)
	case !last.Seen:
		klog.FromContext(ctx).Info("pod is gone and nobody saw its deletion; its owner is read again before its sandbox is released", "claim", c.ID, "reason", verdict.Reason)
		d.ownerCheck.Schedule(c)
	default:
		return d.releaseAuthorised(ctx, pod, c, verdict, t)
	}
	d.endDeleted(pod, t, &c)
	return nil
}

// releaseAuthorised destroys the sandbox of a deleted Pod. The release queue takes over
// the claim, and the Pod may be removed, if sandboxd does not know the id but may be
// rebuilding its index, or if another claim has the sandbox.
func (d *Decider) releaseAuthorised(ctx context.Context, pod *corev1.Pod, c claims.Claim, verdict ownership.Decision, t pods.Tracked) error {
	gone := false
	if d.table.Holders(c.ID) == 1 {
		var err error
		if gone, err = d.releases.Destroy(ctx, c); err != nil {
			return err
		}
	}
	if gone {
		d.releases.Forget(ctx, c)
	} else {
		d.releases.Enqueue(ctx, c)
	}
	klog.FromContext(ctx).Info("released the sandbox", "claim", c.ID, "reason", verdict.Reason, "confirmed", gone)
	d.events.Released(c, verdict.Reason)
	d.endDeleted(pod, t, &c)
	return nil
}
