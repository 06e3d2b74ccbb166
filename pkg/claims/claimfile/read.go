// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Read returns the claims in the table file at path, ordered by key, those of the
// releasing list last. It takes no lock and writes nothing. It is safe beside a running
// daemon, which replaces the whole file.
//
// The file does not record which claims sandboxd has confirmed, so none is
// [claims.Quarantined]; a claim that could not be recorded is [claims.Releasing]. A
// missing file is an error that is [fs.ErrNotExist]. A file that is not a table is an
// error.
func Read(fsys FS, path string) ([]claims.Claim, error) {
	c, err := readFile(fsys, path)
	if err != nil {
		return nil, err
	}
	for i := range c.claims {
		c.claims[i].Durable = true
	}
	slices.SortStableFunc(c.claims, func(a, b claims.Claim) int {
		return cmp.Or(cmp.Compare(bucket(a), bucket(b)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
	})
	return c.claims, nil
}

// ReadPlace returns the place recorded in the table file at path. Like [Read] it takes no
// lock and writes nothing, and it returns the same errors.
func ReadPlace(fsys FS, path string) (claims.Place, error) {
	c, err := readFile(fsys, path)
	return c.place.Place, err
}

// readFile decodes the file at path.
func readFile(fsys FS, path string) (contents, error) {
	data, err := fsys.ReadFile(path)
	if err != nil {
		return contents{}, fmt.Errorf("read the claims table: %w", err)
	}
	c, err := decode(data)
	if err != nil {
		return contents{}, fmt.Errorf("read the claims table %s: %w", path, err)
	}
	return c, nil
}

// bucket sorts releasing claims after the others.
func bucket(c claims.Claim) int {
	if c.State == claims.Releasing {
		return 1
	}
	return 0
}
