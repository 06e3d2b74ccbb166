// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"slices"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// learn takes in what has happened on the node since the last time, and judges
// the releases. The caller holds mu.
func (j *judge) learn() {
	happened := j.sandboxd.History(history.Filter{After: j.lastEvent})
	for _, e := range happened.Events {
		j.lastEvent = e.Seq
		switch e.Type {
		case history.EventClaimed:
			j.vms[e.Sandbox] = &vm{id: e.Sandbox, key: e.ClaimRef, claimed: e}
		case history.EventAnswered:
			j.vms[e.Sandbox].answered = true
		case history.EventReleased:
			j.released++
			j.judgeRelease(j.vms[e.Sandbox], e)
		}
	}
}

// judgeRelease: a VM is destroyed, with its own token, when its authority
// allows it at that moment, or when another authority's Pod has taken its name.
// As long as nobody has said whose it is, it belongs to one of those who had a
// Pod of that name when it was claimed.
func (j *judge) judgeRelease(v *vm, e history.Event) {
	if e.By != history.BySandbox {
		j.add("sandbox %s of %s was released with the %s", v.id, v.key, e.By)
	}
	for i, h := range j.holders[v.key] {
		if v.authority != "" && h.authority != v.authority {
			continue
		}
		if v.authority == "" && h.since.After(v.claimed.Time) {
			continue
		}
		if end, ended := j.over[h.authority]; ended && !end.After(e.Time) {
			return
		}
		if slices.ContainsFunc(j.holders[v.key][i:], func(next holder) bool {
			return next.authority != h.authority && !next.since.After(e.Time)
		}) {
			return
		}
	}
	j.add("sandbox %s of %s was released while %q, to whom it belongs, is alive (shown: %v, recorded: %v)", v.id, v.key, v.authority, v.shown, v.recorded)
}

// audit holds the file against the history, at any moment: a VM that has been
// seen, in the file or on a Pod, keeps its row until it is gone. It returns the
// VMs that live, have no row and have never been seen.
func (j *judge) audit() (unseen []*vm) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// The file is read first: what lacks its row in it and still lives
	// afterwards had lost it.
	rows, err := readTable(j.table)
	if err == nil {
		err = checkModes(j.table)
	}
	if err != nil {
		j.add("%v", err)
		return nil
	}
	living := j.sandboxd.History(history.Filter{After: 1 << 62}).VMs
	j.learn()
	for _, live := range living {
		if live.State == history.StateWarm {
			continue
		}
		v := j.vms[live.ID]
		r, recorded := rows[live.ID]
		switch {
		case recorded:
			j.judgeRow(v, r)
		case v.shown || v.recorded:
			j.add("sandbox %s of %s lives and has lost its row (shown: %v)", v.id, v.key, v.shown)
		default:
			unseen = append(unseen, v)
		}
	}
	return unseen
}

// judgeRow holds a row against the VM that it names. The caller holds mu.
func (j *judge) judgeRow(v *vm, r row) {
	first := !v.recorded
	v.recorded = true
	if r.Key != v.key {
		j.add("sandbox %s of %s has a row under %s", v.id, v.key, r.Key)
	}
	if v.lost {
		j.add("sandbox %s of %s has a row, and its answer went down with a killed daemon", v.id, v.key)
	}
	if token, err := j.sandboxd.Token(v.id); first && err == nil && token != r.Token {
		j.add("the row of sandbox %s of %s has another token", v.id, v.key)
	}
	if !slices.ContainsFunc(j.holders[v.key], func(h holder) bool { return h.authority == r.Authority }) {
		j.add("the row of sandbox %s of %s names %s, who never had a pod there", v.id, v.key, r.Authority)
	}
	j.belongs(v, r.Authority)
}

// afterKill judges what a killed daemon has left. A VM without a row is a lost
// answer: nobody saw it, it was claimed in the life that has just ended, and it
// was the last claim for its key, because the next one would have had to wait
// for this one's row.
func (j *judge) afterKill() {
	unseen := j.audit()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range unseen {
		if !v.answered || v.lost {
			continue
		}
		switch last := j.lastClaim(v.key); {
		case v.claimed.Seq <= j.lastLife:
			j.add("sandbox %s of %s lives without a row, and was claimed before the last daemon started", v.id, v.key)
		case last.id != v.id:
			j.add("sandbox %s of %s lives without a row, and %s was claimed after it", v.id, v.key, last.id)
		default:
			v.lost = true
		}
	}
	j.lastLife = j.lastEvent
}

// lastClaim is the last VM that was claimed for a key. The caller holds mu.
func (j *judge) lastClaim(key string) (last *vm) {
	for _, v := range j.vms {
		if v.key == key && (last == nil || v.claimed.Seq > last.claimed.Seq) {
			last = v
		}
	}
	return last
}

// living is every VM that was seen and lives.
func (j *judge) living() (out []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, live := range j.sandboxd.History(history.Filter{After: 1 << 62}).VMs {
		if v := j.vms[live.ID]; v != nil && (v.shown || v.recorded) {
			out = append(out, v.id+" of "+v.key)
		}
	}
	return out
}
