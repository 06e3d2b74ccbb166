// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

// History is what really happened and what is alive, whatever the API said.
type History struct {
	Events   []Event  `json:"events"`
	VMs      []VM     `json:"vms"`
	Counters Counters `json:"counters"`
}

// VM is a live VM. It has no token.
type VM struct {
	ID        string     `json:"id"`
	Key       config.Key `json:"key"`
	State     State      `json:"state"`
	MadeAt    time.Time  `json:"made_at"`
	ClaimRef  string     `json:"claim_ref,omitempty"`
	ClaimedBy Actor      `json:"claimed_by,omitempty"`
	ClaimedAt time.Time  `json:"claimed_at,omitzero"`
	Deadline  time.Time  `json:"deadline,omitzero"`
}

// State is what a live VM is used for.
type State string

// The states of a live VM.
const (
	StateWarm       State = "warm"
	StateClaimed    State = "claimed"
	StateHibernated State = "hibernated"
	StateArchived   State = "archived"
)

// Filter narrows a history; the zero value lets everything pass. VMs are narrowed by Sandbox and ClaimRef, counters never.
type Filter struct {
	Sandbox  string
	ClaimRef string
	Type     EventType
	// After is the Seq of the last event that is not wanted any more.
	After int64
}

func (f Filter) matches(e Event) bool {
	return e.Seq > f.After && f.MatchesVM(e.Sandbox, e.ClaimRef) && (f.Type == "" || f.Type == e.Type)
}

// MatchesVM reports whether a VM passes the filter.
func (f Filter) MatchesVM(id, ref string) bool {
	return (f.Sandbox == "" || f.Sandbox == id) && (f.ClaimRef == "" || f.ClaimRef == ref)
}
