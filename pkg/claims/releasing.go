// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// releasing has the claims that were removed from their keys, by sandbox and token. If a
// node gives out one id twice, both tokens are kept: which of them works is known only
// once the sandbox is gone.
type releasing map[credential]entry

type credential struct {
	id    string
	token sandboxd.Token
}

func (r releasing) add(e entry) { r[credential{e.ID, e.Token}] = e }

// remove drops every claim of a sandbox, and reports whether there was one.
func (r releasing) remove(id string) bool {
	before := len(r)
	for c := range r {
		if c.id == id {
			delete(r, c)
		}
	}
	return len(r) < before
}

// compareReleasing orders the releasing list of the file. Ties are broken by the token,
// so that the same claims always give the same file.
func compareReleasing(a, b entry) int {
	return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Key, b.Key), strings.Compare(a.Token.Reveal(), b.Token.Reveal()))
}

// Releasing returns the claims waiting for their release, ordered by key. Two of
// them can have the same sandbox and different tokens.
func (t *Table) Releasing() []Claim {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Claim, 0, len(t.releasing))
	for _, e := range t.releasing {
		out = append(out, t.read(e))
	}
	slices.SortFunc(out, func(a, b Claim) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), compareReleasing(entry{Claim: a}, entry{Claim: b}))
	})
	return out
}
