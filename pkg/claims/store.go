// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import "errors"

// Store keeps a table durably. The daemon's is a file: package claimfile.
type Store interface {
	// Load returns what was written last: the claims under pod keys, then those of
	// the releasing list. A store that was never written has none. What cannot be
	// read in full is an error.
	Load() ([]Claim, Place, error)
	// Encode returns a claim in the form of the store, without I/O. The table calls
	// it once for each change of a claim, so that a write need not encode all others
	// again. Its key must be that of a Pod unless it is [Releasing].
	Encode(c Claim) (Record, error)
	// Write replaces what the store has, and returns nil once that is durable. After
	// an error the store has the old claims or, with [ErrUnsynced], can have the new
	// ones. Calls do not overlap, and the snapshot is valid during the call only.
	Write(s Snapshot) error
}

// Record is a claim in the form of the store. It contains the token.
type Record []byte

// Snapshot is what a write stores.
type Snapshot struct {
	// Claims are the records of the claims under pod keys, ordered by key.
	Claims []Record
	// Releasing are the records of the claims that wait for their release, in an
	// order that depends on the claims only.
	Releasing []Record
	// Place is where the table belongs.
	Place Place
}

// ErrUnsynced says that a failed write can be read and may not survive a crash.
var ErrUnsynced = errors.New("the new file is in place and not durable")
