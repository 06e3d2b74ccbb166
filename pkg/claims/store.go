// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import "errors"

// Store keeps a table durably. The daemon uses package claimfile.
type Store interface {
	// Load returns the last written claims: those under pod keys, then those of the
	// releasing list. A store that was never written has none. It returns an error if any
	// claim cannot be read.
	Load() ([]Claim, Place, error)
	// Encode returns a claim in the store's format, without I/O. The table calls it once
	// for each change of a claim, so that a write need not encode the other claims again.
	// The key must be a Pod key unless the claim is [Releasing].
	Encode(c Claim) (Record, error)
	// Write replaces the stored claims, and returns nil once that is durable. After an
	// error the store has the old claims or, with [ErrUnsynced], may have the new ones.
	// Calls do not overlap. The snapshot is valid during the call only.
	Write(s Snapshot) error
}

// Record is a claim in the store's format. It contains the token.
type Record []byte

// Snapshot is the input of a write.
type Snapshot struct {
	// Claims are the records of the claims under pod keys, ordered by key.
	Claims []Record
	// Releasing are the records of the claims that wait for their release, in an order
	// that depends only on the claims.
	Releasing []Record
	// Place is where the table belongs.
	Place Place
}

// ErrUnsynced means that a failed write is readable but may not survive a crash.
var ErrUnsynced = errors.New("the new file is in place and not durable")
