// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"maps"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const (
	// manyMissing is how many claims have to lose their Pod and its owner together,
	// without a deletion having been seen, for them to be held: an API server that
	// was restored from an older backup forgets many objects at once.
	manyMissing = 3
	// missingGather is how long a claim waits for others to join it. The claims that
	// one list leaves without a Pod are read within two passes of the re-check.
	missingGather = 15 * time.Second
	// DefaultMissingOwnersHold is how long held claims are kept.
	DefaultMissingOwnersHold = time.Hour
	// heldRecheck is how often the owners of held claims are read again.
	heldRecheck = time.Minute
)

// missingOwners is the claims whose Pod and owner are missing although nobody saw
// a deletion, by sandbox id. One or two are released once missingGather has passed.
// From manyMissing on they are held, and released after the hold or when an operator
// says so. A claim whose name a Pod of another owner took meanwhile is released, and
// counts for the others as long as a hold lasts: their owners may be unreadable. An owner that is found again ends it. It is not
// persisted: after a restart a hold begins anew. The zero value is ready.
type missingOwners struct {
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
func (m *missingOwners) mayRelease(c claims.Claim, now time.Time) (release, held, began bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims == nil {
		m.claims = map[string]missingOwner{}
	}
	o, known := m.claims[c.ID]
	if !known {
		o.since = now
	}
	m.claims[c.ID] = o
	maps.DeleteFunc(m.displaced, func(_ string, since time.Time) bool { return now.Sub(since) >= m.hold })
	if !o.held && len(m.claims)+len(m.displaced) >= manyMissing {
		o.held, began = true, true
		for id, other := range m.claims {
			began = began && !other.held // it can be one more of a hold that began
			other.held = true
			m.claims[id] = other
		}
	}
	switch {
	case !o.held:
		return now.Sub(o.since) >= missingGather, false, false
	case m.approved.After(o.since):
		return true, false, false
	default:
		return now.Sub(o.since) >= m.hold, true, began
	}
}

// observe records a reading that keeps the claim. One that found the owner ends it.
// One that failed, of a claim whose Pod vanished unseen, counts among those that are
// missing, because the answer may be what the others got.
func (m *missingOwners) observe(c claims.Claim, d ownership.Decision, now time.Time) {
	if d.Err == nil {
		m.found(c.ID)
		return
	}
	if c.State == claims.Preserved {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims == nil {
		m.claims = map[string]missingOwner{}
	}
	if _, known := m.claims[c.ID]; !known {
		m.claims[c.ID] = missingOwner{since: now}
	}
}

// displace records that a Pod of another owner takes the name of a claim whose Pod's
// deletion nobody saw.
func (m *missingOwners) displace(id string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claims, id)
	if _, known := m.displaced[id]; known {
		return
	}
	if m.displaced == nil {
		m.displaced = map[string]time.Time{}
	}
	m.displaced[id] = now
}

// found ends it for a claim whose owner was found, or that is released.
func (m *missingOwners) found(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claims, id)
}

// shed forgets the claims that are no longer wanted.
func (m *missingOwners) shed(wanted map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.claims, func(id string, _ missingOwner) bool { return !wanted[id] })
}

// until returns when a held claim is released without an operator's word.
func (m *missingOwners) until(id string) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.claims[id]
	return o.since.Add(m.hold), o.held
}

func (m *missingOwners) count() (held int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.claims {
		if o.held {
			held++
		}
	}
	return held
}

func (m *missingOwners) approve(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.approved = at
}

// HeldClaims is how many claims are held because their Pods and owners went missing
// together without a deletion having been seen. It never blocks.
func (p *Provider) HeldClaims() int { return p.missing.count() }

// ReleaseHeld allows the release of the claims that are held since before the given
// time. Their owners are read once more first.
func (p *Provider) ReleaseHeld(before time.Time) { p.missing.approve(before) }
