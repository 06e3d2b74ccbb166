// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"cmp"
	"slices"
	"time"
)

// Truth is what really happened and what really is, whatever the API said.
type Truth struct {
	Events   []Event  `json:"events"`
	VMs      []VM     `json:"vms"`
	Counters Counters `json:"counters"`
}

// VM is a live VM. It has no token.
type VM struct {
	ID        string    `json:"id"`
	Key       Key       `json:"key"`
	State     State     `json:"state"`
	MadeAt    time.Time `json:"made_at"`
	ClaimRef  string    `json:"claim_ref,omitempty"`
	ClaimedBy Actor     `json:"claimed_by,omitempty"`
	ClaimedAt time.Time `json:"claimed_at,omitzero"`
	Deadline  time.Time `json:"deadline,omitzero"`
}

// EventFilter narrows the truth; the zero value lets everything pass. VMs are narrowed by Sandbox and ClaimRef,
// counters never.
type EventFilter struct {
	Sandbox  string
	ClaimRef string
	Type     EventType
	// After is the Seq of the last event that is not wanted any more.
	After int64
}

func (f EventFilter) matches(e Event) bool {
	return e.Seq > f.After && f.matchesVM(e.Sandbox, e.ClaimRef) && (f.Type == "" || f.Type == e.Type)
}

func (f EventFilter) matchesVM(id, ref string) bool {
	return (f.Sandbox == "" || f.Sandbox == id) && (f.ClaimRef == "" || f.ClaimRef == ref)
}

// Truth returns events in the order they happened and live VMs in the order they were made, as of one moment.
// It works while the daemon is down.
func (s *Server) Truth(f EventFilter) Truth {
	d := s.current()
	d.mu.Lock()
	defer d.mu.Unlock()
	t := Truth{VMs: []VM{}}
	for _, v := range d.vms {
		if view := newVM(v); f.matchesVM(view.ID, view.ClaimRef) {
			t.VMs = append(t.VMs, view)
		}
	}
	slices.SortFunc(t.VMs, func(a, b VM) int {
		return cmp.Or(a.MadeAt.Compare(b.MadeAt), cmp.Compare(a.ID, b.ID))
	})
	t.Events, t.Counters = s.env.record.snapshot(f)
	return t
}

func newVM(v vm) VM {
	view := VM{ID: v.ID, Key: v.Key, State: v.state(), MadeAt: v.MadeAt}
	if c := v.Claim; c != nil {
		view.ClaimRef, view.ClaimedBy = c.Ref, c.By
		view.ClaimedAt, view.Deadline = c.ClaimedAt, c.Deadline
	}
	return view
}

// Token returns the token of a claimed sandbox, so that a test can act as its holder or look for a leak.
func (s *Server) Token(id string) (string, error) {
	d := s.current()
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.vms[id]; ok && v.Claim != nil {
		return v.Claim.Token, nil
	}
	return "", errNoSandbox(id)
}
