// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"cmp"
	"fmt"
	"slices"
)

// Read returns the claims in the table file at path, ordered by key, those of
// the releasing list last. It takes no lock and writes nothing. It is safe beside a
// running daemon, which replaces the whole file.
//
// The file does not record which claims sandboxd has confirmed, so none is
// [Quarantined]; a claim that could not be recorded is [Releasing]. A missing file
// is an error that is [fs.ErrNotExist]. A file that is not a table is an error.
func Read(fsys FS, path string) ([]Claim, error) {
	data, err := fsys.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the claims table: %w", err)
	}
	c, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the claims table %s: %w", path, err)
	}
	out := make([]Claim, 0, len(c.claims)+len(c.releasing))
	for key, row := range c.claims {
		out = append(out, Claim{Key: key, Row: row, State: confirmedState(row), Durable: true})
	}
	for _, r := range c.releasing {
		r.Durable = true
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(bucket(a), bucket(b)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// bucket puts the releasing claims behind the others.
func bucket(c Claim) int {
	if c.State == Releasing {
		return 1
	}
	return 0
}
