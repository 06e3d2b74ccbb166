// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Claims is the part of the claims table that a [Collector] reads.
type Claims interface {
	// Held returns every claim of the table whose sandbox is not confirmed gone, in any
	// state. The caller may keep the slice.
	Held() []Held
}

// Held is one claim of this node. It has no credential.
type Held struct {
	// ID is sandboxd's claim id.
	ID string
	// Key is the Pod key that the claim was made for, which is also its claim_ref; empty
	// if it is not known.
	Key string
	// Address is the host:port that serves the sandbox; empty when there is none.
	Address string
	// ClaimedAt is when the claim was made, Deadline the cached end of its lease; zero if
	// unknown.
	ClaimedAt, Deadline time.Time
}

// complete returns the index plus the held claims that it lacks. sandboxd's list can be
// empty or partial, for example after a restart, and a missing entry would tell readers
// that its sandbox is gone. An added claim repeats its last index row; without one since
// the start of the daemon it is Running.
func (c *Collector) complete(index []sandboxd.Sandbox, held []Held) []sandboxd.Sandbox {
	listed := make(map[string]sandboxd.Sandbox, len(index))
	for _, row := range index {
		listed[row.ID] = row
	}
	all := slices.Clip(index)
	last := make(map[string]sandboxd.Sandbox, len(held))
	for _, h := range held {
		if row, ok := listed[h.ID]; ok {
			last[h.ID] = row
			continue
		}
		row := missing(h, c.last[h.ID])
		all = append(all, row)
		// A second claim with that id has the same sandbox.
		last[h.ID], listed[h.ID] = row, row
	}
	c.last = last
	return all
}

// missing is the index row of a held claim that the index lacks. The table has the newer
// deadline; other fields come from the last list.
func missing(h Held, last sandboxd.Sandbox) sandboxd.Sandbox {
	row := last
	row.ID = h.ID
	if row.ClaimRef == "" {
		row.ClaimRef = h.Key
	}
	if row.ClaimedAt.IsZero() {
		row.ClaimedAt = h.ClaimedAt
	}
	if !h.Deadline.IsZero() {
		row.Deadline = h.Deadline
	}
	return row
}
