// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func TestCompareTheIndexWithTheTable(t *testing.T) {
	claim := func(id, key, owner string, state claims.State) claims.Claim {
		c := claims.Claim{Key: key, Row: claims.Row{ID: id}, State: state}
		if owner != "" {
			c.Controller = &claims.Owner{UID: types.UID(owner)}
		}
		return c
	}
	listed := func(id, ref string) sandboxd.Sandbox { return sandboxd.Sandbox{ID: id, ClaimRef: ref} }
	for name, tc := range map[string]struct {
		index []sandboxd.Sandbox
		table []claims.Claim
		want  map[string]Finding
	}{
		"in order":             {[]sandboxd.Sandbox{listed("x", "ns/a")}, []claims.Claim{claim("x", "ns/a", "O", claims.Bound)}, map[string]Finding{}},
		"no claim":             {[]sandboxd.Sandbox{listed("x", "")}, nil, map[string]Finding{"x": Orphan}},
		"somebody else's":      {[]sandboxd.Sandbox{listed("x", "ns/z")}, nil, map[string]Finding{"x": External}},
		"another of its Pod":   {[]sandboxd.Sandbox{listed("x", "ns/a"), listed("y", "ns/a")}, []claims.Claim{claim("x", "ns/a", "O", claims.Bound)}, map[string]Finding{"y": Stray}},
		"not listed":           {nil, []claims.Claim{claim("x", "ns/a", "", claims.Bound)}, map[string]Finding{"x": Stale}},
		"two Pods of an owner": {[]sandboxd.Sandbox{listed("x", "ns/a"), listed("y", "ns/b")}, []claims.Claim{claim("x", "ns/a", "O", claims.Bound), claim("y", "ns/b", "O", claims.Bound)}, map[string]Finding{"x": Shared, "y": Shared}},
		"shared, one is stale": {[]sandboxd.Sandbox{listed("y", "ns/b")}, []claims.Claim{claim("x", "ns/a", "O", claims.Bound), claim("y", "ns/b", "O", claims.Bound)}, map[string]Finding{"x": Stale, "y": Shared}},
		"the other is going":   {[]sandboxd.Sandbox{listed("x", "ns/a"), listed("y", "ns/b")}, []claims.Claim{claim("x", "ns/a", "O", claims.Bound), claim("y", "ns/b", "O", claims.Releasing)}, map[string]Finding{}},
	} {
		t.Run(name, func(t *testing.T) {
			l, table := Listing{}, map[string]claims.Claim{}
			for _, s := range tc.index {
				l[s.ID] = s
			}
			for _, c := range tc.table {
				table[c.ID] = c
			}
			for range 100 { // the order of a map must not matter
				if diff := cmp.Diff(tc.want, compare(l, table, table)); diff != "" {
					t.Fatalf("findings (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A finding counts from its second pass on, and none leads to a release.
