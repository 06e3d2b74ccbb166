// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"slices"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// readEvents records the node's events since the last call and checks the releases.
// The caller holds mu.
func (c *checker) readEvents() {
	happened := c.sandboxd.History(history.Filter{After: c.lastEvent})
	for _, e := range happened.Events {
		c.lastEvent = e.Seq
		switch e.Type {
		case history.EventClaimed:
			c.vms[e.Sandbox] = &vm{id: e.Sandbox, key: e.ClaimRef, claimed: e}
		case history.EventAnswered:
			c.vms[e.Sandbox].answered = true
		case history.EventReleased:
			c.released++
			c.checkRelease(c.vms[e.Sandbox], e)
		}
	}
}

// checkRelease checks that a VM is destroyed with its own token, and only when its
// authority allows it at that time or another authority's Pod has taken its name.
// While the authority is unknown, every authority that had a Pod of that name at the
// claim counts.
func (c *checker) checkRelease(v *vm, e history.Event) {
	if e.By != history.BySandbox {
		c.addLocked("sandbox %s of %s was released with the %s", v.id, v.key, e.By)
	}
	for i, h := range c.holders[v.key] {
		if v.authority != "" && h.authority != v.authority {
			continue
		}
		if v.authority == "" && h.since.After(v.claimed.Time) {
			continue
		}
		if end, ended := c.endedAt[h.authority]; ended && !end.After(e.Time) {
			return
		}
		if slices.ContainsFunc(c.holders[v.key][i:], func(next holder) bool {
			return next.authority != h.authority && !next.since.After(e.Time)
		}) {
			return
		}
	}
	c.addLocked("sandbox %s of %s was released while its authority %q is alive (shown: %v, recorded: %v)", v.id, v.key, v.authority, v.shown, v.recorded)
}

// audit compares the file with the node; it can run at any time. A VM that was seen in
// the file or on a Pod must keep its row until it is gone. audit returns the living VMs
// that have no row and were never seen.
func (c *checker) audit() (unseen []*vm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The file is read first: a VM that still lives afterwards must have a row in it.
	rows, err := readTable(c.table)
	if err == nil {
		err = checkModes(c.table)
	}
	if err != nil {
		c.addLocked("%v", err)
		return nil
	}
	living := c.sandboxd.History(history.Filter{After: 1 << 62}).VMs
	c.readEvents()
	for _, live := range living {
		if live.State == history.StateWarm {
			continue
		}
		v := c.vms[live.ID]
		r, recorded := rows[live.ID]
		switch {
		case recorded:
			c.checkRow(v, r)
		case v.shown || v.recorded:
			c.addLocked("sandbox %s of %s lives without its row (shown: %v)", v.id, v.key, v.shown)
		default:
			unseen = append(unseen, v)
		}
	}
	return unseen
}

// checkRow compares a row with the VM that it names. The caller holds mu.
func (c *checker) checkRow(v *vm, r row) {
	first := !v.recorded
	v.recorded = true
	if r.Key != v.key {
		c.addLocked("sandbox %s of %s has a row under %s", v.id, v.key, r.Key)
	}
	if v.lost {
		c.addLocked("sandbox %s of %s has a row, although a kill lost its answer", v.id, v.key)
	}
	if token, err := c.sandboxd.Token(v.id); first && err == nil && token != r.Token {
		c.addLocked("the row of sandbox %s of %s has another token", v.id, v.key)
	}
	if !slices.ContainsFunc(c.holders[v.key], func(h holder) bool { return h.authority == r.Authority }) {
		c.addLocked("the row of sandbox %s of %s names %s, which never had a Pod of that name", v.id, v.key, r.Authority)
	}
	c.checkAuthority(v, r.Authority)
}

// checkAfterKill checks the state that a killed daemon left. A VM without a row must be
// a lost answer: nobody saw it, the process that was just killed claimed it, and it is
// the last claim for its key, because a later claim waits for the earlier one's row.
func (c *checker) checkAfterKill() {
	unseen := c.audit()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range unseen {
		if !v.answered || v.lost {
			continue
		}
		switch last := c.lastClaim(v.key); {
		case v.claimed.Seq <= c.lastRun:
			c.addLocked("sandbox %s of %s lives without a row, and was claimed before the last daemon started", v.id, v.key)
		case last.id != v.id:
			c.addLocked("sandbox %s of %s lives without a row, and %s was claimed after it", v.id, v.key, last.id)
		default:
			v.lost = true
		}
	}
	c.lastRun = c.lastEvent
}

// lastClaim returns the last VM that was claimed for a key. The caller holds mu.
func (c *checker) lastClaim(key string) (last *vm) {
	for _, v := range c.vms {
		if v.key == key && (last == nil || v.claimed.Seq > last.claimed.Seq) {
			last = v
		}
	}
	return last
}

// livingSeen returns the living VMs that were seen in the file or on a Pod.
func (c *checker) livingSeen() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, live := range c.sandboxd.History(history.Filter{After: 1 << 62}).VMs {
		if v := c.vms[live.ID]; v != nil && (v.shown || v.recorded) {
			out = append(out, v.id+" of "+v.key)
		}
	}
	return out
}
