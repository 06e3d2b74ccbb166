// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "time"

// vm is one microVM, as it is kept in the state directory. It is never changed in place: a change
// is a new value, which counts once it is stored.
type vm struct {
	ID     string    `json:"id"`
	Key    Key       `json:"key"`
	MadeAt time.Time `json:"made_at"`
	// Claim is nil while the VM is warm.
	Claim *claim `json:"claim,omitempty"`
}

type claim struct {
	Token        string    `json:"token"`
	Ref          string    `json:"claim_ref,omitempty"`
	By           Actor     `json:"by"`
	TTL          Duration  `json:"ttl"`
	ClaimedAt    time.Time `json:"claimed_at"`
	Deadline     time.Time `json:"deadline"`
	HibernatedAt time.Time `json:"hibernated_at,omitzero"`
	Archived     bool      `json:"archived,omitempty"`
}

func (c claim) hibernated() bool { return !c.HibernatedAt.IsZero() }

// startLease gives the claim a lease of its own length from now on.
func (c *claim) startLease(now time.Time) { c.Deadline = now.Add(time.Duration(c.TTL)) }

// grantTTL is the lease a client gets for the ttl_seconds it asked for.
func grantTTL(seconds int64) time.Duration {
	switch {
	case seconds == 0:
		return DefaultTTL
	case seconds > int64(MaxTTL/time.Second):
		return MaxTTL
	}
	return time.Duration(seconds) * time.Second
}

// State is the life a VM leads.
type State string

// The states of a live VM.
const (
	StateWarm       State = "warm"
	StateClaimed    State = "claimed"
	StateHibernated State = "hibernated"
	StateArchived   State = "archived"
)

func (v vm) state() State {
	switch {
	case v.Claim == nil:
		return StateWarm
	case v.Claim.Archived:
		return StateArchived
	case v.Claim.hibernated():
		return StateHibernated
	}
	return StateClaimed
}
