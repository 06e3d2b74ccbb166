// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// Owners reads an owner, or a bare Pod, and decides whether the sandbox may be released.
type Owners interface {
	Owner(ctx context.Context, namespace string, o claims.Owner) ownership.Decision
	Pod(ctx context.Context, namespace, name string, uid types.UID) ownership.Decision
}

// Pods answers which Pods hold claims.
type Pods interface {
	// Lock waits for the lock of a Pod key.
	Lock(key string) (unlock func())
	// HasNoPod reports whether no Pod holds the claim. It must not use the table.
	HasNoPod(claims.Claim) bool
}

// Events records releases, also before they happen.
type Events interface {
	Released(c claims.Claim, why string)
	Unadoptable(c claims.Claim, grace time.Duration)
}

// OwnerCheckConfig configures an OwnerCheck.
type OwnerCheckConfig struct {
	Table  *claims.Table
	Queue  *Queue
	Owners Owners
	Pods   Pods
	Events Events
	// PodLists returns how often the Pods have been listed anew; 0 if that is unknown.
	// While it does not change, no deletion can have been missed.
	PodLists func() uint64
	// Hold is how long claims are kept whose Pods and owners went missing together
	// without a deletion being seen; 0 means [DefaultHold].
	Hold time.Duration
	// Grace is how long a claim that no Pod can adopt is kept while its owner lives,
	// from the deletion of its Pod; 0 means until its owner or its lease ends.
	Grace time.Duration
}

// OwnerCheck reads the owners of claims that no Pod holds: preserved claims, and claims
// whose Pod vanished unseen. An owner that is gone, replaced, being deleted or expired
// releases the claim; any other owner keeps it, but not for longer than a grace if no Pod
// can adopt the claim. It is safe for concurrent use.
type OwnerCheck struct {
	table    *claims.Table
	queue    *Queue
	owners   Owners
	pods     Pods
	events   Events
	podLists func() uint64
	rechecks *rechecks
	held     heldClaims
	grace    time.Duration
}

// NewOwnerCheck returns an OwnerCheck. It no longer checks claims that its queue has
// taken over.
func NewOwnerCheck(c OwnerCheckConfig) *OwnerCheck {
	return &OwnerCheck{
		table: c.Table, queue: c.Queue, owners: c.Owners, pods: c.Pods, events: c.Events, podLists: c.PodLists,
		rechecks: c.Queue.rechecks, held: heldClaims{hold: cmp.Or(c.Hold, DefaultHold)}, grace: c.Grace,
	}
}

// Pass reads the owners that are due. The Pod cache must have seen a complete list.
func (o *OwnerCheck) Pass(ctx context.Context) {
	withoutPod := o.table.Select(o.pods.HasNoPod)
	o.prune(withoutPod)
	for _, c := range withoutPod {
		if ctx.Err() != nil {
			return
		}
		if o.rechecks.due(c, time.Now()) {
			o.check(ctx, c)
		}
	}
}

// prune forgets the claims that are no longer checked.
func (o *OwnerCheck) prune(withoutPod []claims.Claim) {
	ids, keys := sets.New[string](), sets.New[string]()
	for _, c := range withoutPod {
		ids.Insert(c.ID)
		keys.Insert(c.Key)
	}
	o.held.prune(ids.Has)
	o.rechecks.prune(keys.Has)
}

// check reads the owner of one claim, with its key locked.
func (o *OwnerCheck) check(ctx context.Context, seen claims.Claim) {
	defer o.pods.Lock(seen.Key)()
	c, ok := o.table.Get(seen.Key)
	if !ok || c.ID != seen.ID || !o.pods.HasNoPod(c) {
		return
	}
	logger := klog.FromContext(ctx).WithValues("key", c.Key, "claim", c.ID)
	if c.State == claims.Tentative {
		// No Pod ever used this claim, and the Pod that requested it is gone.
		if err := o.table.EnsureDurable(); err == nil {
			o.queue.Enqueue(ctx, c)
			logger.Info("no pod holds this claim, which was never recorded; returning its sandbox")
		}
		return
	}
	d := o.confirmPodGone(ctx, c, o.verdictForClaim(ctx, c))
	if !d.Release {
		o.keep(klog.NewContext(ctx, logger), c, d)
		return
	}
	now := time.Now()
	if d.Missing() && !o.rechecks.deletionKnown(c, o.podLists()) {
		release, held, began := o.held.mayRelease(c, now)
		if began {
			logger.Error(nil, "several claims lost their pods and owners at once and no deletion was seen; they are held, as after the restore of an older backup", "heldFor", o.held.hold)
		}
		if !release {
			o.rechecks.again(c, now, held)
			return
		}
	}
	o.release(klog.NewContext(ctx, logger), c, d.Reason)
}

// keep records a verdict that keeps the claim, unless no Pod can adopt the claim and its
// grace has ended.
func (o *OwnerCheck) keep(ctx context.Context, c claims.Claim, d ownership.Decision) {
	if o.graceEnded(c, d, time.Now()) {
		if d = o.confirmNeverAdopted(ctx, c, d); d.Release {
			o.release(ctx, c, d.Reason)
			return
		}
	}
	now := time.Now()
	o.held.kept(c, d, now)
	if o.rechecks.kept(c, d.Reason, now) {
		klog.FromContext(ctx).Info("no pod holds this claim; its sandbox is preserved", d.Attrs()...)
	}
	if until, ends := o.KeptUntil(c); ends {
		o.rechecks.notAfter(c, until, now)
	}
	o.rechecks.alive(c, d, o.podLists())
}

// release hands a claim whose release is authorised to the queue.
func (o *OwnerCheck) release(ctx context.Context, c claims.Claim, reason string) {
	o.queue.Enqueue(ctx, c)
	o.held.forget(c.ID)
	klog.FromContext(ctx).Info("no pod holds this claim; its release is authorised", "reason", reason)
	o.events.Released(c, reason)
}

// confirmPodGone reads the Pod before a verdict about its owner releases. The Pod cache
// can lag behind an API server that was restored from a backup: the Pod then exists
// again, and an owner created after the backup does not.
func (o *OwnerCheck) confirmPodGone(ctx context.Context, c claims.Claim, d ownership.Decision) ownership.Decision {
	if !d.Release || c.Owner == nil && c.Controller == nil {
		return d
	}
	pod := o.ReadVerdict(ctx, c, nil)
	if pod.Release {
		return d
	}
	return ownership.Decision{Reason: d.Reason + ", and its pod is not", Err: pod.Err}
}

// verdictForClaim reads the object that the row recorded for its vanished Pod: the owner
// of a preserved claim, else the Pod's last controller, else the bare Pod itself. A row
// of an older build that names neither releases nothing.
func (o *OwnerCheck) verdictForClaim(ctx context.Context, c claims.Claim) ownership.Decision {
	switch {
	case c.Owner != nil:
		return o.ReadVerdict(ctx, c, c.Owner)
	case c.Controller != nil:
		return o.ReadVerdict(ctx, c, c.Controller)
	case c.Authority != "" && c.Authority == c.PodUID:
		return o.ReadVerdict(ctx, c, nil)
	default:
		return ownership.Decision{Reason: "the claims table does not record its owner; the sandbox ends with its lease"}
	}
}

// ReadVerdict reads the controller owner and decides whether the claim may be released.
// owner is nil for a bare Pod; then the Pod itself is read.
func (o *OwnerCheck) ReadVerdict(ctx context.Context, c claims.Claim, owner *claims.Owner) ownership.Decision {
	pod := pods.NameOf(c.Key)
	if owner == nil {
		return o.owners.Pod(ctx, pod.Namespace, pod.Name, c.PodUID)
	}
	return o.owners.Owner(ctx, pod.Namespace, *owner)
}

// Schedule schedules the first check of the claim's owner.
func (o *OwnerCheck) Schedule(c claims.Claim) { o.rechecks.schedule(c) }

// Preserved schedules the first check of a claim that decision d preserved when its Pod
// was deleted or vanished. seen is true if the deletion of the Pod was seen.
func (o *OwnerCheck) Preserved(ctx context.Context, c claims.Claim, d ownership.Decision, seen bool) {
	o.rechecks.schedule(c)
	if seen {
		o.rechecks.deletionSeen(c)
	}
	o.rechecks.alive(c, d, o.podLists())
	o.announceGrace(ctx, c)
}

// Displaced records that a Pod of another owner takes the claim's name. Unless the
// deletion of the claim's Pod is known, the claim counts towards the hold of other
// missing claims.
func (o *OwnerCheck) Displaced(c claims.Claim) {
	if !o.rechecks.deletionKnown(c, o.podLists()) {
		o.held.displace(c.ID, time.Now())
	}
}

// Cancel ends the checks of the claim under a key, which a Pod holds again.
func (o *OwnerCheck) Cancel(key string) { o.rechecks.forget(key) }

// Reason is the latest verdict that kept the claim; empty when there is none.
func (o *OwnerCheck) Reason(c claims.Claim) string { return o.rechecks.keptBecause(c) }

// HeldUntil returns when a held claim is released without approval.
func (o *OwnerCheck) HeldUntil(id string) (until time.Time, held bool) { return o.held.until(id) }

// HeldClaims is the number of claims held because their Pods and owners went missing
// together without a deletion being seen. It never blocks.
func (o *OwnerCheck) HeldClaims() int { return o.held.count() }

// ReleaseHeld approves the release of claims that have been held since before the given
// time. Their owners are read once more first.
func (o *OwnerCheck) ReleaseHeld(before time.Time) { o.held.approve(before) }
