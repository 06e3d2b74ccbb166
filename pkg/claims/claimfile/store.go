// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Store keeps one claims table in the file at its path. It implements [claims.Store].
// The caller holds [Lock].
type Store struct {
	fs   FS
	path string

	// place and extra were read by Load: the place with its encoded form, and the members
	// of the file that this build does not know.
	place recordedPlace
	extra []claims.Record

	// buffer has the file of the last write. It is reused, because a burst of changes
	// would otherwise produce several times the daemon's memory in garbage each second.
	buffer []byte
	// members is reused for the same reason.
	members []claims.Record
}

// New returns the store at path. The file need not exist yet.
func New(fsys FS, path string) *Store { return &Store{fs: fsys, path: path} }

// Load implements [claims.Store]. A missing file is an empty table.
func (s *Store) Load() ([]claims.Claim, claims.Place, error) {
	c, err := readFile(s.fs, s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, claims.Place{}, nil
	}
	if err != nil {
		return nil, claims.Place{}, err
	}
	s.place, s.extra = c.place, nil
	for _, name := range slices.Sorted(maps.Keys(c.extra)) {
		member, err := encodeMember(name, c.extra[name])
		if err != nil {
			return nil, claims.Place{}, fmt.Errorf("encode the field %s of the claims table: %w", name, err)
		}
		s.extra = append(s.extra, member)
	}
	return c.claims, c.place.Place, nil
}

// Encode implements [claims.Store]. A claim under its key becomes a member of the claims
// field, a releasing claim an element of the releasing list.
func (s *Store) Encode(c claims.Claim) (claims.Record, error) {
	if c.State == claims.Releasing {
		return encodeRow(c.Row, c.Key)
	}
	row, err := encodeRow(c.Row, "")
	if err != nil {
		return nil, err
	}
	return encodeMember(c.Key, row)
}

// Write implements [claims.Store].
func (s *Store) Write(snapshot claims.Snapshot) error {
	place, err := s.place.member(snapshot.Place)
	if err != nil {
		return fmt.Errorf("encode the place of the claims table: %w", err)
	}
	s.members = append(s.members[:0], s.extra...)
	if place != nil {
		s.members = append(s.members, place)
	}
	s.buffer = appendTable(s.buffer[:0], snapshot.Claims, snapshot.Releasing, s.members)
	return ReplaceFile(s.fs, s.path, s.buffer)
}
