// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"runtime"
	"time"
)

// groupWrite is one write and its waiters.
type groupWrite struct {
	done chan struct{}
	err  error
}

// writeBuffers are the buffers of a write. They are reused, because a burst of changes
// would otherwise produce several times the daemon's memory in garbage each second.
type writeBuffers struct {
	Snapshot
	entries []entry // of the releasing list, for sorting
}

// change runs apply under the lock and returns once a write that includes its change has
// landed or failed. If apply fails, nothing is written.
func (t *Table) change(apply func() error) error {
	t.mu.Lock()
	if err := apply(); err != nil {
		t.mu.Unlock()
		return err
	}
	if t.next == nil {
		t.next = &groupWrite{done: make(chan struct{})}
	}
	r := t.next
	if !t.writing {
		t.writing = true
		go t.write()
	}
	t.mu.Unlock()
	<-r.done
	return r.err
}

// write writes the store until no caller waits. All changes made during one write share
// the next.
func (t *Table) write() {
	b := &t.buffers
	for {
		t.mu.Lock()
		r := t.next
		if r == nil {
			t.writing = false
			t.mu.Unlock()
			return
		}
		t.next = nil
		t.snapshot(b)
		rev := t.rev
		t.mu.Unlock()

		start := time.Now()
		r.err = t.store.Write(b.Snapshot)
		took := time.Since(start)

		t.mu.Lock()
		observe := t.observe
		if t.unsaved = r.err != nil; !t.unsaved {
			t.landed, t.writes.Last = rev, time.Now()
		}
		t.writes.Err = r.err
		t.unsynced = errors.Is(r.err, ErrUnsynced) || (t.unsynced && r.err != nil)
		t.mu.Unlock()
		if observe != nil {
			observe(took, r.err)
		}
		close(r.done)
		t.signal()
		// Let waiting callers make further changes now, so that these are part of the
		// next write. Otherwise half of the callers would wait for the other half.
		runtime.Gosched()
	}
}

// Flush writes the table if its last write failed. A loop calls it, so that the store
// catches up once a full disk has space again.
func (t *Table) Flush() error {
	t.mu.Lock()
	unsaved := t.unsaved
	t.mu.Unlock()
	if !unsaved {
		return nil
	}
	return t.change(func() error { return nil })
}

// EnsureDurable ensures that the store does not show a claim whose [Table.Add] failed as
// a valid one. A write can fail after its rename, and a daemon starting from such a store
// would adopt a sandbox that is being returned. On error the sandbox must not be returned
// yet.
func (t *Table) EnsureDurable() error {
	t.mu.Lock()
	unsynced := t.unsynced
	t.mu.Unlock()
	if !unsynced {
		return nil
	}
	return t.Flush()
}
