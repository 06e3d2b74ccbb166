// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrNotFound says that the table has no such claim under that key any more.
var ErrNotFound = errors.New("the claims table has no such claim")

// Table is the claims table. It is safe for concurrent use.
type Table struct {
	path string
	fs   FS

	// mu guards all that follows. It is never held while the disk works.
	mu        sync.Mutex
	claims    keyed
	releasing releasing
	place     recordedPlace
	extra     []json.RawMessage // members of the file that this build does not know
	rev       uint64            // of the newest change
	landed    uint64            // of the newest change that a write has landed
	gathering *round            // the next write's waiters; nil when nobody waits
	writing   bool
	unsaved   bool // the last write failed: memory is ahead of the file
	unsynced  bool // a failed write can be read all the same
	writes    Writes
	observe   func(took time.Duration, err error)

	// draft belongs to the write that is going on.
	draft draft
	// changes wakes who watches the table.
	changes chan struct{}
}

// entry is a claim in memory with its form in the file.
type entry struct {
	Claim
	// raw is its part of the file: a member of claims, with its key, or an element
	// of the releasing list.
	raw json.RawMessage
	rev uint64 // of the change that gave it its holder; 0 when it was loaded
	// writeFailed is true for a tentative claim whose write failed.
	writeFailed bool
}

// newEntry encodes a claim. Its times are brought into a form that the file can
// have, in memory too: a row that cannot be encoded would lose its token.
func newEntry(c Claim) (entry, error) {
	c.ClaimedAt, c.Deadline = storable(c.ClaimedAt), storable(c.Deadline)
	var raw json.RawMessage
	var err error
	if c.State == Releasing {
		raw, err = encodeRow(c.Row, c.Key)
	} else if raw, err = encodeRow(c.Row, ""); err == nil {
		raw, err = encodeMember(c.Key, raw)
	}
	if err != nil {
		return entry{}, fmt.Errorf("encode the claim of %s: %w", c.Key, err)
	}
	return entry{Claim: c, raw: raw}, nil
}

// Open reads the table at path and writes it back once. The caller holds
// [Lock]. All claims are [Quarantined] until sandboxd has listed them. A row without
// a claim time, from an older build, gets now.
//
// A missing file is an empty table. A file that is not a table, and a path
// that cannot be written, are errors with the file as it was: starting without
// durable claims would leak a VM per claim at the next restart.
func Open(fsys FS, path string, now time.Time) (*Table, error) {
	var c contents
	data, err := fsys.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the claims table: %w", err)
	default:
		if c, err = decode(data); err != nil {
			return nil, fmt.Errorf("read the claims table %s: %w", path, err)
		}
	}
	t := &Table{
		path: path, fs: fsys, releasing: releasing{}, place: c.place,
		changes: make(chan struct{}, 1),
	}
	for _, name := range slices.Sorted(maps.Keys(c.extra)) {
		member, err := encodeMember(name, c.extra[name])
		if err != nil {
			return nil, fmt.Errorf("encode the field %s of the claims table: %w", name, err)
		}
		t.extra = append(t.extra, member)
	}
	for _, key := range slices.Sorted(maps.Keys(c.claims)) {
		row := c.claims[key]
		if row.ClaimedAt.IsZero() {
			row.ClaimedAt = now.UTC().Truncate(time.Second)
		}
		e, err := newEntry(Claim{Key: key, Row: row, State: Quarantined})
		if err != nil {
			return nil, err
		}
		t.claims.set(e)
	}
	for _, r := range c.releasing {
		e, err := newEntry(r)
		if err != nil {
			return nil, err
		}
		t.releasing.add(e)
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

// read is the claim of an entry. The caller holds mu.
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

// Select returns the claims that List would, but only those that are wanted. wanted
// must not use the table.
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

// snapshot gathers what the file should say. The caller holds mu.
func (t *Table) snapshot(d *draft) {
	d.claims, d.releasing, d.entries = d.claims[:0], d.releasing[:0], d.entries[:0]
	d.extra = append(d.extra[:0], t.extra...)
	if t.place.member != nil {
		d.extra = append(d.extra, t.place.member)
	}
	for _, e := range t.releasing {
		d.entries = append(d.entries, e)
	}
	for _, e := range t.claims.ordered {
		if e.writeFailed {
			d.entries = append(d.entries, *e)
		} else {
			d.claims = append(d.claims, e.raw)
		}
	}
	slices.SortFunc(d.entries, compareReleasing)
	for _, e := range d.entries {
		d.releasing = append(d.releasing, e.raw)
	}
}
