// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"maps"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const (
	// manyMissing is the number of claims from which they are held, if they lose their
	// Pods and owners together and no deletion was seen: an API server restored from an
	// older backup loses many objects at once.
	manyMissing = 3
	// missingGather is how long a claim waits for other claims to lose their owners too.
	// The claims that one list leaves without a Pod are all checked within two passes.
	missingGather = 15 * time.Second
	// DefaultHold is how long held claims are kept.
	DefaultHold = time.Hour
	// heldRecheck is how often the owners of held claims are read again.
	heldRecheck = time.Minute
)

// heldClaims keeps, by sandbox id, the claims whose Pod and owner are missing although no
// deletion was seen. Fewer than manyMissing are released after missingGather. From
// manyMissing on they are held until the hold ends or an operator approves their release.
// A hold ends for a claim whose owner is found again. A claim whose name a Pod of another
// owner takes is released when that Pod has a claim, but counts as missing until a hold
// would end. Nothing is persisted: after a restart a hold begins anew. The zero value is
// ready.
type heldClaims struct {
	hold time.Duration

	perClaim[missingOwner]
	displaced map[string]time.Time // since when
	approved  time.Time
}

type missingOwner struct {
	since time.Time
	held  bool
}

// mayRelease records that the claim's owner is missing, and reports whether its sandbox
// may be released now. held is true if the claim is held, began if this call started the
// hold.
func (h *heldClaims) mayRelease(c claims.Claim, now time.Time) (release, held, began bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o, known := h.values[c.ID]
	if !known {
		o.since = now
	}
	h.put(c.ID, o)
	maps.DeleteFunc(h.displaced, func(_ string, since time.Time) bool { return now.Sub(since) >= h.hold })
	if !o.held && h.missing() >= manyMissing {
		o.held, began = true, true
		for id, other := range h.values {
			began = began && !other.held // this claim joins an earlier hold
			other.held = true
			h.values[id] = other
		}
	}
	switch {
	case !o.held:
		return now.Sub(o.since) >= missingGather, false, false
	case h.approved.After(o.since):
		return true, false, false
	default:
		return now.Sub(o.since) >= h.hold, true, began
	}
}

// missing is the number of claims that count towards a hold. The caller holds mu.
func (h *heldClaims) missing() int {
	n := len(h.values)
	for id := range h.displaced {
		if _, counted := h.values[id]; !counted {
			n++
		}
	}
	return n
}

// kept records a verdict that keeps the claim. A verdict that found the owner ends the
// hold. A failed read for a claim whose Pod vanished unseen counts as a missing owner,
// because that owner may be missing like the others.
func (h *heldClaims) kept(c claims.Claim, d ownership.Decision, now time.Time) {
	if d.Err == nil {
		h.forget(c.ID)
		return
	}
	if c.State == claims.Preserved {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.values[c.ID]; !known {
		h.put(c.ID, missingOwner{since: now})
	}
}

// displace records that a Pod of another owner wants the name of a claim whose Pod's
// deletion was not seen. The record stays while that Pod waits for a claim.
func (h *heldClaims) displace(id string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.displaced[id]; known {
		return
	}
	if h.displaced == nil {
		h.displaced = map[string]time.Time{}
	}
	h.displaced[id] = now
}

// until returns when a held claim is released without approval.
func (h *heldClaims) until(id string) (time.Time, bool) {
	o, _ := h.get(id)
	return o.since.Add(h.hold), o.held
}

func (h *heldClaims) count() (held int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.values {
		if o.held {
			held++
		}
	}
	return held
}

func (h *heldClaims) approve(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.approved = at
}
