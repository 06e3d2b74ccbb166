// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// VM is one microVM, as it is kept in the state directory. It is never changed in place: a change
// is a new value, which counts once it is stored.
type VM struct {
	ID     string     `json:"id"`
	Key    config.Key `json:"key"`
	MadeAt time.Time  `json:"made_at"`
	// Claim is nil while the VM is warm.
	Claim *Claim `json:"claim,omitempty"`
}

// Claim says who holds a VM, and until when.
type Claim struct {
	Token        string          `json:"token"`
	Ref          string          `json:"claim_ref,omitempty"`
	By           history.Actor   `json:"by"`
	TTL          metav1.Duration `json:"ttl"`
	ClaimedAt    time.Time       `json:"claimed_at"`
	Deadline     time.Time       `json:"deadline"`
	HibernatedAt time.Time       `json:"hibernated_at,omitzero"`
	Archived     bool            `json:"archived,omitempty"`
}

// Hibernated reports whether the memory of the VM is on disk.
func (c Claim) Hibernated() bool { return !c.HibernatedAt.IsZero() }

// startLease gives the claim a lease of its own length from now on.
func (c *Claim) startLease(now time.Time) { c.Deadline = now.Add(c.TTL.Duration) }

// checkTTL refuses a ttl_seconds that is negative.
func checkTTL(seconds int64) error {
	if seconds < 0 {
		return Errorf(http.StatusBadRequest, "ttl_seconds %d is negative", seconds)
	}
	return nil
}

// grantTTL is the lease a client gets for the ttl_seconds it asked for.
func grantTTL(seconds int64) metav1.Duration {
	switch {
	case seconds == 0:
		return metav1.Duration{Duration: config.DefaultTTL}
	case seconds > int64(config.MaxTTL/time.Second):
		return metav1.Duration{Duration: config.MaxTTL}
	}
	return metav1.Duration{Duration: time.Duration(seconds) * time.Second}
}

func (v VM) state() history.State {
	switch {
	case v.Claim == nil:
		return history.StateWarm
	case v.Claim.Archived:
		return history.StateArchived
	case v.Claim.Hibernated():
		return history.StateHibernated
	}
	return history.StateClaimed
}

func (v VM) event(how history.EventType, by history.Actor) history.Event {
	e := history.Event{Type: how, Sandbox: v.ID, Key: v.Key, By: by}
	if v.Claim != nil {
		e.ClaimRef, e.Deadline = v.Claim.Ref, v.Claim.Deadline
	}
	return e
}

// view is the VM without its token.
func (v VM) view() history.VM {
	view := history.VM{ID: v.ID, Key: v.Key, State: v.state(), MadeAt: v.MadeAt}
	if c := v.Claim; c != nil {
		view.ClaimRef, view.ClaimedBy = c.Ref, c.By
		view.ClaimedAt, view.Deadline = c.ClaimedAt, c.Deadline
	}
	return view
}
