// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// An owner is read again after recheckFirst, then at doubling distances, and
// at least every recheckMost.
const (
	recheckFirst = 10 * time.Second
	recheckMost  = 10 * time.Minute
)

// recheckOwners reads the owners of the claims that no Pod holds: those that a
// deletion preserved, and those whose Pod vanished while nobody watched. An
// owner that is gone, replaced, in teardown or expired releases the claim; any
// other keeps it (Pod contract).
func (p *Provider) recheckOwners(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	unheld := p.table.Select(p.hasNoPod)
	p.shed(unheld)
	for _, c := range unheld {
		if ctx.Err() != nil {
			return
		}
		if p.rechecks.due(c, time.Now()) {
			p.recheckOwner(ctx, c)
		}
	}
}

// shed lets go of what is remembered of claims that are over.
func (p *Provider) shed(unheld []claims.Claim) {
	now := time.Now()
	ids, keys := map[string]bool{}, map[string]bool{}
	for _, c := range unheld {
		ids[c.ID], keys[c.Key] = true, true
	}
	p.missing.shed(ids)
	p.rechecks.shed(keys)
	claimed := p.claimIDs()
	p.absences.shed(now, claimed)
	p.unreleased.shed(claimed)
	p.attempts.shed(func(key string) bool {
		pod := podName(key)
		_, err := p.lister.Pods(pod.Namespace).Get(pod.Name)
		return err == nil
	})
}

// hasNoPod reports whether no Pod holds the claim, as far as this node knows. A
// deleted Pod whose claim is decided holds none, whatever keeps its object.
func (p *Provider) hasNoPod(c claims.Claim) bool {
	if c.State == claims.Preserved {
		return true
	}
	if t, ok := p.pods.get(c.Key); ok && t.pod.UID == c.PodUID {
		return t.end != nil && t.end.deleted
	}
	return p.holderInCache(c) == nil
}

// holderInCache is the claim's Pod as the Pod cache has it; nil when it does not.
func (p *Provider) holderInCache(c claims.Claim) *corev1.Pod {
	return p.cachedPod(c.Key, c.PodUID)
}

// cachedPod is the Pod of that key and UID that the Pod cache has; nil when it has
// none.
func (p *Provider) cachedPod(key string, uid types.UID) *corev1.Pod {
	name := podName(key)
	pod, err := p.lister.Pods(name.Namespace).Get(name.Name)
	if err != nil || pod.UID != uid {
		return nil
	}
	return pod
}

// podTerminated reports whether the claim's Pod has ended, here or in the API.
func (p *Provider) podTerminated(c claims.Claim) bool {
	if t, ok := p.pods.get(c.Key); ok && t.pod.UID == c.PodUID && t.end != nil {
		return true
	}
	pod := p.holderInCache(c)
	return pod != nil && terminal(pod)
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func (p *Provider) recheckOwner(ctx context.Context, seen claims.Claim) {
	defer p.keys.lock(seen.Key)()
	c, ok := p.table.Get(seen.Key)
	if !ok || c.ID != seen.ID || !p.hasNoPod(c) {
		return
	}
	logger := klog.FromContext(ctx).WithValues("key", c.Key, "claim", c.ID)
	if c.State == claims.Tentative {
		// It never served anybody, and the Pod it was for has gone.
		if err := p.table.EnsureDurable(); err == nil {
			p.withdraw(ctx, c)
			logger.Info("no pod holds this claim, which was never recorded; returning its sandbox")
		}
		return
	}
	d := p.verdictForClaim(ctx, c)
	now := time.Now()
	if !d.Release {
		p.missing.observe(c, d, now)
		if p.rechecks.kept(c, d.Reason, now) {
			logger.Info("no pod holds this claim; its sandbox is preserved", d.Attrs()...)
		}
		p.rechecks.alive(c, d, p.podLists())
		return
	}
	if d.Missing() && !p.rechecks.watched(c, p.podLists()) {
		release, held, began := p.missing.mayRelease(c, now)
		if began {
			logger.Error(nil, "several claims lost their pods and owners at once and no deletion was seen; they are held, as after the restore of an older backup", "heldFor", p.missing.hold)
		}
		if !release {
			p.rechecks.again(c, now, held)
			return
		}
	}
	p.withdraw(ctx, c)
	p.missing.found(c.ID)
	logger.Info("no pod holds this claim; its release is authorised", "reason", d.Reason)
	p.recordReleased(c, d.Reason)
}

// verdictForClaim judges by what the row recorded of the Pod that is gone: the owner
// of a preserved claim, else the controller that the Pod had last, else the bare Pod
// itself. A row from an older build that names neither gives no authority.
func (p *Provider) verdictForClaim(ctx context.Context, c claims.Claim) ownership.Decision {
	switch {
	case c.Owner != nil:
		return p.readVerdict(ctx, c, c.Owner)
	case c.Controller != nil:
		return p.readVerdict(ctx, c, c.Controller)
	case c.Authority != "" && c.Authority == c.PodUID:
		return p.readVerdict(ctx, c, nil)
	default:
		return ownership.Decision{Reason: "the table does not say who owned it; it ends with its lease"}
	}
}

// rechecks is when the owner of each claim without a Pod is read next, by Pod key. It is
// not persisted: after a restart every owner is read again soon. The zero
// value is ready.
type rechecks struct {
	mu   sync.Mutex
	next map[string]recheck
}

type recheck struct {
	id     string
	at     time.Time
	delay  time.Duration
	reason string
	// lists is how often the Pods had been listed when the owner was last found
	// alive; none without such a reading.
	lists uint64
	alive bool
	// seen is true while the Pod's deletion was seen and its owner has not been
	// read since.
	seen bool
}

// schedule puts the claim's first re-check recheckFirst from now.
func (r *rechecks) schedule(c claims.Claim) {
	r.set(c.Key, recheck{id: c.ID, at: time.Now().Add(recheckFirst), delay: recheckFirst})
}

// alive remembers a reading that found the owner alive.
func (r *rechecks) alive(c claims.Claim, d ownership.Decision, lists uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, ok := r.next[c.Key]
	if !ok || next.id != c.ID || d.Err != nil {
		return
	}
	next.alive, next.lists, next.seen = d.Cause == ownership.Alive, lists, false
	r.next[c.Key] = next
}

// deletionSeen remembers that the deletion of the claim's Pod was seen.
func (r *rechecks) deletionSeen(c claims.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next, ok := r.next[c.Key]; ok && next.id == c.ID {
		next.seen = true
		r.next[c.Key] = next
	}
}

// watched reports whether the deletion is as good as seen: that of the Pod was, and
// the owner has not been read since, or the Pods have been watched without a new list
// since the owner was last found alive. An API server that lost its history makes every watch
// list again.
func (r *rechecks) watched(c claims.Claim, lists uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.next[c.Key]
	return last.id == c.ID && (last.seen || last.alive && lists != 0 && last.lists == lists)
}

// again schedules the next reading of an owner that is missing.
func (r *rechecks) again(c claims.Claim, now time.Time, held bool) {
	delay := missingGather
	if held {
		delay = heldRecheck
	}
	r.set(c.Key, recheck{id: c.ID, at: now.Add(delay), delay: recheckFirst})
}

// shed forgets the claims whose keys are not wanted any more.
func (r *rechecks) shed(wanted map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.next, func(key string, _ recheck) bool { return !wanted[key] })
}

// due reports whether the claim's owner is to be read now. A claim not seen
// before is scheduled.
func (r *rechecks) due(c claims.Claim, now time.Time) bool {
	r.mu.Lock()
	next, ok := r.next[c.Key]
	r.mu.Unlock()
	if !ok || next.id != c.ID {
		r.schedule(c)
		return false
	}
	return !now.Before(next.at)
}

// kept doubles the distance after a verdict that preserves, and reports
// whether its reason is new.
func (r *rechecks) kept(c claims.Claim, reason string, now time.Time) (changed bool) {
	r.mu.Lock()
	last := r.next[c.Key]
	r.mu.Unlock()
	delay := min(2*max(last.delay, recheckFirst), recheckMost)
	last.id, last.at, last.delay = c.ID, now.Add(delay), delay
	changed = last.reason != reason
	last.reason = reason
	r.set(c.Key, last)
	return changed
}

func (r *rechecks) set(key string, next recheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = map[string]recheck{}
	}
	r.next[key] = next
}

func (r *rechecks) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, key)
}
