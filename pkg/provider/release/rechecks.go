// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// The first recheck of an owner follows after recheckFirst. The interval then doubles up
// to recheckMost.
const (
	recheckFirst = 10 * time.Second
	recheckMost  = 10 * time.Minute
)

// rechecks keeps, by Pod key, when the owner of each claim without a Pod is read next.
// Nothing is persisted: after a restart every owner is read again soon. The zero value is
// ready.
type rechecks struct{ perClaim[recheck] }

type recheck struct {
	id     string
	at     time.Time
	delay  time.Duration
	reason string
	// alive is true if the owner was found alive; lists is how often the Pods had been
	// listed by then.
	alive bool
	lists uint64
	// deletionSeen is true if the Pod's deletion was seen and its owner has not been read
	// since.
	deletionSeen bool
}

// schedule sets the claim's first check to recheckFirst from now.
func (r *rechecks) schedule(c claims.Claim) {
	r.set(c.Key, recheck{id: c.ID, at: time.Now().Add(recheckFirst), delay: recheckFirst})
}

// alive records a verdict that kept the claim, and whether the owner was found alive.
func (r *rechecks) alive(c claims.Claim, d ownership.Decision, lists uint64) {
	if d.Err == nil {
		r.change(c, func(next *recheck) {
			next.alive, next.lists, next.deletionSeen = d.Cause == ownership.Alive, lists, false
		})
	}
}

// deletionSeen records that the deletion of the claim's Pod was seen.
func (r *rechecks) deletionSeen(c claims.Claim) {
	r.change(c, func(next *recheck) { next.deletionSeen = true })
}

// deletionKnown reports whether no deletion of the Pod or its owner can have been missed:
// either the Pod's deletion was seen and its owner has not been read since, or the Pods
// have been watched without a new list since the owner was last found alive. An API
// server that lost its history makes every watch list again.
func (r *rechecks) deletionKnown(c claims.Claim, lists uint64) bool {
	last, _ := r.get(c.Key)
	return last.id == c.ID && (last.deletionSeen || last.alive && lists != 0 && last.lists == lists)
}

// again schedules the next read of a missing owner.
func (r *rechecks) again(c claims.Claim, now time.Time, held bool) {
	delay := missingGather
	if held {
		delay = heldRecheck
	}
	r.set(c.Key, recheck{id: c.ID, at: now.Add(delay), delay: recheckFirst})
}

// due reports whether the claim's owner must be read now. A claim that is not known yet
// is scheduled.
func (r *rechecks) due(c claims.Claim, now time.Time) bool {
	next, ok := r.get(c.Key)
	if !ok || next.id != c.ID {
		r.schedule(c)
		return false
	}
	return !now.Before(next.at)
}

// kept doubles the interval after a verdict that keeps the claim, and reports whether its
// reason is new.
func (r *rechecks) kept(c claims.Claim, reason string, now time.Time) (changed bool) {
	last, _ := r.get(c.Key)
	delay := min(2*max(last.delay, recheckFirst), recheckMost)
	last.id, last.at, last.delay = c.ID, now.Add(delay), delay
	changed = last.reason != reason
	last.reason = reason
	r.set(c.Key, last)
	return changed
}

// notAfter brings the next check of the claim forward to at, unless at has passed.
func (r *rechecks) notAfter(c claims.Claim, at, now time.Time) {
	r.change(c, func(next *recheck) {
		if at.After(now) && at.Before(next.at) {
			next.at = at
		}
	})
}

// keptBecause is the latest verdict that kept the claim; empty when there is none.
func (r *rechecks) keptBecause(c claims.Claim) string {
	if last, _ := r.get(c.Key); last.id == c.ID && c.State != claims.Tentative {
		return last.reason
	}
	return ""
}

// change changes the recheck of a claim, if its key has one of that claim.
func (r *rechecks) change(c claims.Claim, apply func(*recheck)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next, ok := r.values[c.Key]; ok && next.id == c.ID {
		apply(&next)
		r.values[c.Key] = next
	}
}
