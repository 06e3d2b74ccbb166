// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"maps"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const (
	// manyMissing is from how many claims on they are held, if they lose their Pods
	// and owners together and no deletion was seen: an API server that was restored
	// from an older backup loses many objects at once.
	manyMissing = 3
	// missingGather is how long a claim waits for others to go missing with it. The
	// claims that one list leaves without a Pod are all checked within two passes.
	missingGather = 15 * time.Second
	// DefaultHold is how long held claims are kept.
	DefaultHold = time.Hour
	// heldRecheck is how often the owners of held claims are read again.
	heldRecheck = time.Minute
)

// heldClaims is the claims whose Pod and owner are missing although no deletion was seen,
// by sandbox id. One or two are released once missingGather has passed. From manyMissing
// on they are held, and released after the hold or when an operator approves it. A claim
// whose owner is found again is not held any more. A claim whose name a Pod of another
// owner takes is released when that Pod has a claim, and counts towards the hold of the
// others for as long as a hold lasts. It is not persisted: after a restart a hold begins anew. The zero value
// is ready.
type heldClaims struct {
	hold time.Duration

	mu        sync.Mutex
	claims    map[string]missingOwner
	displaced map[string]time.Time // since when
	approved  time.Time
}

type missingOwner struct {
	since time.Time
	held  bool
}

// mayRelease records that the claim's owner is missing, and reports whether its
// sandbox may be released now. held is true when the claim is held, began when that
// is new.
func (h *heldClaims) mayRelease(c claims.Claim, now time.Time) (release, held, began bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claims == nil {
		h.claims = map[string]missingOwner{}
	}
	o, known := h.claims[c.ID]
	if !known {
		o.since = now
	}
	h.claims[c.ID] = o
	maps.DeleteFunc(h.displaced, func(_ string, since time.Time) bool { return now.Sub(since) >= h.hold })
	if !o.held && h.missing() >= manyMissing {
		o.held, began = true, true
		for id, other := range h.claims {
			began = began && !other.held // one more claim of a hold that began before
			other.held = true
			h.claims[id] = other
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

// missing is how many claims count towards a hold. The caller holds mu.
func (h *heldClaims) missing() int {
	n := len(h.claims)
	for id := range h.displaced {
		if _, counted := h.claims[id]; !counted {
			n++
		}
	}
	return n
}

// kept records a reading that keeps the claim. One that found the owner ends the hold. One
// that failed, of a claim whose Pod vanished unseen, counts as a missing owner, because
// the owner may be missing as those of the other claims are.
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
	if h.claims == nil {
		h.claims = map[string]missingOwner{}
	}
	if _, known := h.claims[c.ID]; !known {
		h.claims[c.ID] = missingOwner{since: now}
	}
}

// displace records that a Pod of another owner wants the name of a claim whose Pod's
// deletion was not seen. The Pod may get no claim for long; what is known of the old one
// stays until then.
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

// forget ends the hold of a claim whose owner was found, or that is released.
func (h *heldClaims) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.claims, id)
}

// prune forgets all claims but those given.
func (h *heldClaims) prune(wanted map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.claims, func(id string, _ missingOwner) bool { return !wanted[id] })
}

// until returns when a held claim is released without an operator's approval.
func (h *heldClaims) until(id string) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.claims[id]
	return o.since.Add(h.hold), o.held
}

func (h *heldClaims) count() (held int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.claims {
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
