// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrNotFound means that the table has no such claim under that key.
var ErrNotFound = errors.New("the claims table has no such claim")

// Table is the claims table. It is safe for concurrent use.
type Table struct {
	store Store

	// mu guards the fields below. It is never held while the store works.
	mu        sync.Mutex
	claims    keyIndex
	releasing releasing
	place     Place
	rev       uint64      // of the newest change
	landed    uint64      // of the newest change that a write has landed
	next      *groupWrite // the waiters of the next write; nil if there are none
	writing   bool
	unsaved   bool // the last write failed: memory is ahead of the store
	unsynced  bool // a failed write is readable
	writes    Writes
	observe   func(took time.Duration, err error)

	// buffers belongs to the write in progress.
	buffers writeBuffers
	// changes wakes the watcher of the table.
	changes chan struct{}
}

// entry is a claim in memory, with its encoded record.
type entry struct {
	Claim
	record Record
	rev    uint64 // of the change that set its holder; 0 if it was loaded
	// writeFailed is true for a tentative claim whose write failed. Its record is
	// that of a releasing claim.
	writeFailed bool
}

// newEntry encodes a claim. Its times are made storable in memory too: a row that cannot
// be encoded would lose its token.
func newEntry(store Store, c Claim) (entry, error) {
	for _, t := range []*time.Time{&c.ClaimedAt, &c.Deadline, &c.LeaseMovedAt, &c.WarnedOf, &c.PodDeletedAt} {
		*t = storable(*t)
	}
	record, err := store.Encode(c)
	if err != nil {
		return entry{}, fmt.Errorf("encode the claim of %s: %w", c.Key, err)
	}
	return entry{Claim: c, record: record}, nil
}

// Open loads the table from its store and writes it back once. The caller is the store's
// only writer. All claims are [Quarantined] until sandboxd has listed them. A row without
// a claim time, from an older build, gets now.
//
// If the store cannot be read in full or cannot be written, Open returns an error and
// leaves the store as it was: without durable claims, the next restart would leak a VM
// per claim.
func Open(store Store, now time.Time) (*Table, error) {
	stored, place, err := store.Load()
	if err != nil {
		return nil, err
	}
	t := &Table{store: store, releasing: releasing{}, place: place, changes: make(chan struct{}, 1)}
	for _, c := range stored {
		held := c.State != Releasing
		if held {
			c.State = Quarantined
		}
		if held && c.ClaimedAt.IsZero() {
			c.ClaimedAt = now.UTC().Truncate(time.Second)
		}
		e, err := newEntry(t.store, c)
		if err != nil {
			return nil, err
		}
		if held {
			t.claims.set(e)
		} else {
			t.releasing.add(e)
		}
	}
	if err := t.change(func() error { return nil }); err != nil {
		return nil, fmt.Errorf("the claims table cannot be written; free space or fix the permissions of its directory: %w", err)
	}
	return t, nil
}

// Get returns the claim under a pod key.
func (t *Table) Get(key string) (Claim, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.claims.get(key)
	return t.read(e), ok
}

// read returns an entry as a claim. The caller holds mu.
func (t *Table) read(e entry) Claim {
	c := e.Claim
	c.Durable = e.rev <= t.landed
	return c
}

// List returns the claims under pod keys, ordered by key.
func (t *Table) List() []Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Claim, 0, len(t.claims.ordered))
	for _, e := range t.claims.ordered {
		out = append(out, t.read(*e))
	}
	return out
}

// Select returns the claims of List for which wanted is true. wanted must not use the
// table.
func (t *Table) Select(wanted func(Claim) bool) []Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Claim
	for _, e := range t.claims.ordered {
		if c := t.read(*e); wanted(c) {
			out = append(out, c)
		}
	}
	return out
}

// snapshot gathers the claims for the store. The caller holds mu.
func (t *Table) snapshot(b *writeBuffers) {
	b.Claims, b.Releasing, b.entries = b.Claims[:0], b.Releasing[:0], b.entries[:0]
	b.Place = t.place
	for _, e := range t.releasing {
		b.entries = append(b.entries, e)
	}
	for _, e := range t.claims.ordered {
		if e.writeFailed {
			b.entries = append(b.entries, *e)
		} else {
			b.Claims = append(b.Claims, e.record)
		}
	}
	slices.SortFunc(b.entries, compareReleasing)
	for _, e := range b.entries {
		b.Releasing = append(b.Releasing, e.record)
	}
}
