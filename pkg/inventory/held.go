// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Claims is what a [Collector] reads of the claims table.
type Claims interface {
	// Held returns every claim of the table whose sandbox is not confirmed gone,
	// in whatever state it is. The caller may keep the slice.
	Held() []Held
}

// Held is one claim of this node. It has no credential.
type Held struct {
	// ID is sandboxd's claim id.
	ID string
	// Key is the Pod key that the claim was made for, which is its claim_ref;
	// empty when it is not known.
	Key string
	// Address is the host:port that serves the sandbox; empty when there is none.
	Address string
	// ClaimedAt is when the claim was made, Deadline the cached end of its lease;
	// zero when they are not known.
	ClaimedAt, Deadline time.Time
}

// complete returns the index with those held claims added that it lacks.
// sandboxd's list may be empty or partial for a while, as after its restart, and
// an entry that disappeared would tell readers that its sandbox is gone. An
// added claim is the sandbox that the index listed last, or Running when no list
// since the start of the daemon had it.
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
		// A second claim with that id is the same sandbox.
		last[h.ID], listed[h.ID] = row, row
	}
	c.last = last
	return all
}

// missing is a held claim that the index lacks, in the index's terms. The table
// has the newer deadline; what it does not record is taken from the last list.
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
