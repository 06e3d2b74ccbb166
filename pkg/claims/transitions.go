// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"fmt"
	"time"
)

// ErrOtherClaim means that a claim could not be recorded because its key or its sandbox
// belongs to another claim. Its credential is kept in the releasing list.
var ErrOtherClaim = errors.New("the pod key or the sandbox belongs to another claim")

// Add records a claim that sandboxd has just delivered under a free key, or in place of
// the claim displaced, which moves to the releasing list in the same write. On nil the
// claim is [Bound].
//
// No credential is lost on error. A claim whose write failed stays [Tentative] under its
// key until the caller has returned the sandbox. The next successful write puts it into
// the file's releasing list, because a sandbox that is about to be returned must not be
// adopted after a restart. With [ErrOtherClaim] the claim is already in the releasing
// list.
func (t *Table) Add(key string, row Row, displaced *Claim) error {
	var refused error
	err := t.change(func() error {
		held, taken := t.claims.get(key)
		switch {
		case displaced == nil && taken, displaced != nil && (!taken || held.ID != displaced.ID), t.claims.holders(row.ID) > 0:
			refused = fmt.Errorf("claim %s for %s: %w", row.ID, key, ErrOtherClaim)
			return t.release(Claim{Key: key, Row: row})
		case displaced != nil:
			if err := t.enqueueRelease(held.Claim); err != nil {
				return err
			}
		}
		return t.put(Claim{Key: key, Row: row, State: Tentative})
	})
	if refused != nil {
		return errors.Join(refused, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.claims.get(key)
	switch {
	case !ok || e.ID != row.ID:
		return err
	case err != nil:
		returned := e.Claim
		returned.State = Releasing
		record, encodeErr := t.store.Encode(returned)
		if encodeErr == nil {
			e.record, e.writeFailed = record, true
			t.claims.set(e)
		}
		return errors.Join(err, encodeErr)
	default:
		e.State = Bound
		t.claims.set(e)
		t.signal()
		return nil
	}
}

// Holders is the number of claims under pod keys that have the sandbox. A sandbox that
// sandboxd delivered twice must not be destroyed for one claim while a Pod uses it under
// another.
func (t *Table) Holders(id string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.claims.holders(id)
}

// Bind records that a Pod adopted the claim, and clears Owner and PodDeletedAt. If the
// adoption cannot be written, the Pod does not become the holder: if its controller
// changed then, the sandbox would move with a Pod that never used it.
func (t *Table) Bind(key, id string, h Holder) error {
	var before Claim
	err := t.update(key, id, func(c *Claim) {
		before = *c
		c.Row, c.State = c.heldBy(h), Bound
	})
	if err == nil || before.PodUID == h.PodUID {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.claims.get(key)
	switch {
	case !ok || e.ID != id || e.PodUID != h.PodUID:
		return err
	case e.rev <= t.landed:
		return nil // the next write included it
	}
	// A listing may have changed the lease meanwhile.
	before.Deadline, before.LeaseMovedAt, before.WarnedOf = e.Deadline, e.LeaseMovedAt, e.WarnedOf
	return errors.Join(err, t.put(before))
}

// Follow records the current controller of the Pod that holds the claim; the controller
// can change while the Pod runs. The claim's state does not change.
func (t *Table) Follow(key, id string, h Holder) error {
	return t.update(key, id, func(c *Claim) {
		c.Authority, c.Controller, c.RandomName = h.authority(), h.Controller, h.RandomName
	})
}

// Preserve records that the claim's Pod is gone but its owner, nil for a bare Pod, may
// still want the sandbox. deleted is when the deletion of the Pod was seen; zero if nobody
// saw it.
func (t *Table) Preserve(key, id string, owner *Owner, deleted time.Time) error {
	return t.update(key, id, func(c *Claim) {
		c.Owner, c.PodDeletedAt = owner, deleted
		if c.State == Bound {
			c.State = Preserved
		}
	})
}

// Listed is one sandbox of a listing.
type Listed struct {
	ID       string
	Deadline time.Time
}

// ConfirmListed records a listing: each listed claim leaves quarantine and gets the
// listed deadline. It writes only if a deadline changed. Claims that are not listed do
// not change, and neither do tentative claims, which are being returned.
func (t *Table) ConfirmListed(listed []Listed) error {
	deadlines := make(map[string]time.Time, len(listed))
	for _, s := range listed {
		deadlines[s.ID] = s.Deadline
	}
	t.mu.Lock()
	moved := map[string]Claim{}
	for _, e := range t.claims.ordered {
		deadline, ok := deadlines[e.ID]
		if !ok || e.State == Tentative {
			continue
		}
		if e.State == Quarantined {
			e.State = e.ConfirmedState()
			t.signal()
		}
		if !deadline.IsZero() && !deadline.Equal(e.Deadline) {
			moved[e.Key] = e.Claim
		}
	}
	t.mu.Unlock()
	if len(moved) == 0 {
		return nil
	}
	now := time.Now()
	return t.change(func() error {
		for key, c := range moved {
			if e, ok := t.claims.get(key); ok && e.ID == c.ID {
				if !e.Deadline.IsZero() {
					e.LeaseMovedAt = now
				}
				e.Deadline = deadlines[c.ID]
				if err := t.put(e.Claim); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// MarkWarned records that the ends of these claims' leases were warned of.
func (t *Table) MarkWarned(warned []Claim) error {
	return t.change(func() error {
		for _, c := range warned {
			if e, ok := t.claims.get(c.Key); ok && e.ID == c.ID {
				e.WarnedOf = c.LeaseEnd()
				if err := t.put(e.Claim); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// EnqueueRelease moves a claim whose release is authorised from its key to the releasing
// list. On error it has moved in memory but not in the file.
func (t *Table) EnqueueRelease(key, id string) error {
	return t.change(func() error {
		e, ok := t.claims.get(key)
		if !ok || e.ID != id {
			return ErrNotFound
		}
		return t.enqueueRelease(e.Claim)
	})
}

// Forget drops a claim and its credential from its key or from the releasing list. Call
// it only after sandboxd has confirmed that the sandbox is gone.
func (t *Table) Forget(key, id string) error {
	return t.change(func() error {
		if e, ok := t.claims.get(key); ok && e.ID == id {
			t.claims.remove(key)
			return nil
		}
		if t.releasing.remove(id) {
			return nil
		}
		return ErrNotFound
	})
}

// update changes one claim under its key.
func (t *Table) update(key, id string, apply func(*Claim)) error {
	return t.change(func() error {
		e, ok := t.claims.get(key)
		if !ok || e.ID != id {
			return ErrNotFound
		}
		c := e.Claim
		apply(&c)
		return t.put(c)
	})
}

// put stores a claim under its key. The caller holds mu.
func (t *Table) put(c Claim) error {
	e, err := newEntry(t.store, c)
	if err != nil {
		return err
	}
	t.rev++
	e.rev = t.rev
	if old, ok := t.claims.get(c.Key); ok && old.ID == c.ID && old.PodUID == c.PodUID {
		e.rev = old.rev
	}
	t.claims.set(e)
	return nil
}

// enqueueRelease moves a claim from its key to the releasing list. The caller holds mu.
func (t *Table) enqueueRelease(c Claim) error {
	if err := t.release(c); err != nil {
		return err
	}
	t.claims.remove(c.Key)
	return nil
}

// release adds a claim to the releasing list. The caller holds mu.
func (t *Table) release(c Claim) error {
	c.State = Releasing
	e, err := newEntry(t.store, c)
	if err != nil {
		return err
	}
	t.rev++
	e.rev = t.rev
	t.releasing.add(e)
	return nil
}
