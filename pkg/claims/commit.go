// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"encoding/json"
	"errors"
	"runtime"
	"time"
)

// round is one write and those who wait for it.
type round struct {
	done chan struct{}
	err  error
}

// draft is what a write needs. It is kept from one to the next: under a burst their
// garbage would be several times the daemon's memory each second.
type draft struct {
	claims, releasing, extra []json.RawMessage
	entries                  []entry // of the releasing list, to be ordered
	file                     []byte
}

// change runs apply under the lock and returns once a write that includes what
// it did has landed, or has failed. When apply fails nothing is written.
func (t *Table) change(apply func() error) error {
	t.mu.Lock()
	if err := apply(); err != nil {
		t.mu.Unlock()
		return err
	}
	if t.gathering == nil {
		t.gathering = &round{done: make(chan struct{})}
	}
	r := t.gathering
	if !t.writing {
		t.writing = true
		go t.write()
	}
	t.mu.Unlock()
	<-r.done
	return r.err
}

// write lands rounds until nobody waits. All changes made while one write was
// at the disk share the next (DESIGN rule 6).
func (t *Table) write() {
	d := &t.draft
	for {
		t.mu.Lock()
		r := t.gathering
		if r == nil {
			t.writing = false
			t.mu.Unlock()
			return
		}
		t.gathering = nil
		t.snapshot(d)
		rev := t.rev
		t.mu.Unlock()

		start := time.Now()
		d.file = appendTable(d.file[:0], d.claims, d.releasing, d.extra)
		r.err = ReplaceFile(t.fs, t.path, d.file)
		took := time.Since(start)

		t.mu.Lock()
		observe := t.observe
		if t.unsaved = r.err != nil; !t.unsaved {
			t.landed, t.writes.Last = rev, time.Now()
		}
		t.writes.Err = r.err
		t.unsynced = errors.Is(r.err, errUnsynced) || (t.unsynced && r.err != nil)
		t.mu.Unlock()
		if observe != nil {
			observe(took, r.err)
		}
		close(r.done)
		t.signal()
		// Who has waited may have more to change. Without a turn now it would miss
		// the next write, and half of all would always wait for the other half's.
		runtime.Gosched()
	}
}

// Flush writes the table when its last write failed, and does nothing
// otherwise. A loop calls it, so that a disk that was full for a while ends up
// with what is in memory.
func (t *Table) Flush() error {
	t.mu.Lock()
	unsaved := t.unsaved
	t.mu.Unlock()
	if !unsaved {
		return nil
	}
	return t.change(func() error { return nil })
}

// Settle makes sure that the file does not show a claim whose [Table.Add]
// failed as one that holds. A write can fail after its rename, and a daemon
// that started from such a file would adopt a sandbox that is being given back.
// On error the sandbox must not be given back yet.
func (t *Table) Settle() error {
	t.mu.Lock()
	unsynced := t.unsynced
	t.mu.Unlock()
	if !unsynced {
		return nil
	}
	return t.Flush()
}
