// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const grace = 10 * time.Minute

// checkMost is the longest time between the end of a grace and the check that follows.
const checkMost = 10 * time.Second

// inGrace runs a test with a grace.
func inGrace(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	inFixture(t, func(t *testing.T, f *fixture) {
		f.grace = grace
		f.open()
		test(t, f)
	})
}

// randomClaim is a new claim of a Pod with a random name.
func (f *fixture) randomClaim(name string, owner types.UID) claims.Claim {
	f.t.Helper()
	f.owners.Set(ownership.Alive, owner)
	return f.claimFor(name, claims.Holder{
		PodUID: types.UID("P-" + name), Controller: &claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", UID: owner}, RandomName: true,
	})
}

// restart loads the table as a start does, and lists the sandboxes.
func (f *fixture) restart() {
	f.t.Helper()
	f.open()
	var listed []claims.Listed
	for id := range f.node.Sandboxes {
		listed = append(listed, claims.Listed{ID: id})
	}
	if err := f.table.ConfirmListed(listed); err != nil {
		f.t.Fatal(err)
	}
}

func TestWhatAGraceReleases(t *testing.T) {
	become := func(cause ownership.Cause, uid types.UID) func(*fixture) {
		return func(f *fixture) { f.owners.Set(cause, uid) }
	}
	for name, tc := range map[string]struct {
		change   func(*claims.Holder)
		unseen   bool
		then     func(*fixture)
		released bool
	}{
		"no Pod can adopt it":              {released: true},
		"a Pod may come back by name":      {change: func(h *claims.Holder) { h.RandomName = false }},
		"its Pod is bare":                  {change: func(h *claims.Holder) { h.Controller = nil }},
		"the deletion was not seen":        {unseen: true},
		"its owner cannot be read":         {then: become(ownership.Unreadable, "A")},
		"another server answers for it":    {then: become(ownership.Unverifiable, "A")},
		"its Pod is back":                  {then: become(ownership.Alive, "P-a")},
		"its Pod is kept by a finalizer":   {then: become(ownership.Deleting, "P-a")},
		"another Pod has the name":         {then: become(ownership.Replaced, "P-a")},
		"its Pod cannot be read":           {then: become(ownership.Unreadable, "P-a")},
		"its Pod cannot be verified":       {then: become(ownership.Unverifiable, "P-a")},
		"a Pod adopts it":                  {then: func(f *fixture) { f.adopt("P2") }},
		"a Pod adopted it, and is gone":    {then: func(f *fixture) { f.adopt("P2"); f.delete(true) }},
		"its Pod came back, and vanished":  {then: func(f *fixture) { f.adopt("P-a"); f.delete(false) }},
		"sandboxd has not listed it since": {then: func(f *fixture) { f.open() }},
		"the daemon starts again":          {then: (*fixture).restart, released: true},
	} {
		t.Run(name, func(t *testing.T) {
			inGrace(t, func(t *testing.T, f *fixture) {
				f.owners.Set(ownership.Alive, "A")
				h := claims.Holder{PodUID: "P-a", Controller: &claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", UID: "A"}, RandomName: true}
				if tc.change != nil {
					tc.change(&h)
				}
				if h.Controller == nil {
					f.owners.Set(ownership.Alive, h.PodUID)
				}
				c := f.claimFor("a", h)
				f.preserve(c, !tc.unseen)
				f.passes(grace - time.Minute)
				if tc.then != nil {
					tc.then(f)
				}
				if len(f.table.Releasing()) > 0 {
					t.Fatal("released before the end of the grace")
				}
				f.passes(4 * recheckMost)
				if released := len(f.table.Releasing()) == 1; released != tc.released || released != slices.Contains(f.released, c.Key) {
					t.Errorf("releasing %v, recorded %v", f.table.Releasing(), f.released)
				}
			})
		})
	}
}

// adopt lets a Pod named a hold the claim that was kept for its owner.
func (f *fixture) adopt(uid types.UID) {
	f.t.Helper()
	c, _ := f.read("a")
	f.hasPod[c.ID] = true
	if err := f.table.Bind(c.Key, c.ID, claims.Holder{PodUID: uid, Controller: c.Controller, RandomName: c.RandomName}); err != nil {
		f.t.Fatal(err)
	}
	f.check.Cancel(c.Key)
}

// delete is the deletion of the Pod named a.
func (f *fixture) delete(seen bool) {
	f.t.Helper()
	c, _ := f.read("a")
	f.hasPod[c.ID] = false
	f.preserve(c, seen)
}

func TestWhenAGraceEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		away time.Duration // of the daemon, half-way through the grace
		want time.Duration // from the deletion
	}{
		"while the daemon runs":      {0, grace},
		"after a restart":            {time.Minute, grace},
		"while the daemon is away":   {time.Hour, grace/2 + time.Hour + recheckFirst},
		"when the daemon comes back": {grace / 2, grace + recheckFirst},
	} {
		t.Run(name, func(t *testing.T) {
			inGrace(t, func(t *testing.T, f *fixture) {
				f.preserve(f.randomClaim("a", "A"), true)
				deleted := time.Now()
				for time.Since(deleted) < grace/2 {
					f.passes(0)
				}
				if tc.away > 0 {
					time.Sleep(tc.away)
					f.restart()
				}
				f.owners.Reads = nil
				for len(f.table.Releasing()) == 0 && time.Since(deleted) < 2*tc.want {
					f.passes(0)
				}
				if got := time.Since(deleted); got < tc.want || got > tc.want+checkMost {
					t.Errorf("released after %s, want %s", got, tc.want)
				}
				// The owner, and then its Pod, are read right before.
				if reads := f.owners.Reads; len(reads) < 2 || !slices.Equal(reads[len(reads)-2:], []types.UID{"A", "P-a"}) {
					t.Errorf("read %v", reads)
				}
			})
		})
	}
}

// A Pod that came back, as from a backup, and is deleted again has a grace of its own.
func TestAnAdoptionBeginsANewGrace(t *testing.T) {
	inGrace(t, func(t *testing.T, f *fixture) {
		f.preserve(f.randomClaim("a", "A"), true)
		f.passes(grace / 2)
		f.adopt("P-a")
		f.passes(grace)
		f.delete(true)
		f.passes(grace - time.Minute)
		if len(f.table.Releasing()) > 0 {
			t.Error("released by the grace of an earlier Pod")
		}
		f.passes(time.Minute + checkMost)
		if len(f.table.Releasing()) != 1 {
			t.Error("not released by the grace of the last Pod")
		}
	})
}

// While claims are held, the API server may be an older one, and its answers end no grace.
func TestNoGraceEndsWhileClaimsAreHeld(t *testing.T) {
	inGrace(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"a", "b", "c"} {
			f.claim(name, types.UID(name))
			f.owners.Set(ownership.Gone, types.UID(name))
		}
		f.passes(recheckFirst + missingGather)
		c := f.randomClaim("d", "D")
		f.preserve(c, true)
		f.passes(DefaultHold - 2*time.Minute)
		if f.check.HeldClaims() != manyMissing || len(f.table.Releasing()) > 0 {
			t.Fatalf("%d held, releasing %v", f.check.HeldClaims(), f.table.Releasing())
		}
		f.owners.Set(ownership.Alive, "a", "b", "c")
		f.passes(2 * recheckMost)
		if r := f.table.Releasing(); len(r) != 1 || r[0].ID != c.ID {
			t.Errorf("releasing %v after the hold", r)
		}
	})
}

// Claims whose owners went missing are held, however long ago their Pods were deleted.
func TestAGraceEndsNoHold(t *testing.T) {
	inGrace(t, func(t *testing.T, f *fixture) {
		f.lists = 1
		for _, name := range []string{"a", "b", "c"} {
			f.preserve(f.randomClaim(name, types.UID(name)), true)
		}
		f.passes(grace / 2)
		f.lists = 2
		f.owners.Set(ownership.Gone, "a", "b", "c")
		f.passes(2 * grace)
		if f.check.HeldClaims() != manyMissing || len(f.table.Releasing()) > 0 {
			t.Errorf("%d held, releasing %v", f.check.HeldClaims(), f.table.Releasing())
		}
	})
}

func TestWithoutAGraceAnOwnerKeeps(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.randomClaim("a", "A")
		f.preserve(c, true)
		f.passes(20 * time.Hour)
		if _, ends := f.check.KeptUntil(c); ends || len(f.table.Releasing()) > 0 || len(f.announced) > 0 {
			t.Errorf("releasing %v, announced %v", f.table.Releasing(), f.announced)
		}
	})
}

func TestAGraceIsAnnounced(t *testing.T) {
	inGrace(t, func(t *testing.T, f *fixture) {
		seen, unseen, named := f.randomClaim("a", "A"), f.randomClaim("b", "B"), f.claim("c", "C")
		f.preserve(seen, true)
		f.preserve(unseen, false)
		f.preserve(named, true)
		if !slices.Equal(f.announced, []string{keyOf("a")}) {
			t.Errorf("announced %v", f.announced)
		}
		c, _ := f.read("a")
		if until, ends := f.check.KeptUntil(c); !ends || !until.Equal(time.Now().Add(grace)) {
			t.Errorf("kept until %v, %t", until, ends)
		}
		if err := errors.Join(f.table.Forget(c.Key, c.ID), f.table.Add(c.Key, claims.NewRow(sandboxd.Claim{ID: "sb_9", Token: sandboxd.NewToken("t")}, claims.Holder{PodUID: "P9"}, time.Now()), nil)); err != nil {
			t.Fatal(err)
		}
		f.check.Preserved(t.Context(), c, ownership.Decision{}, true)
		if len(f.announced) != 1 {
			t.Errorf("announced %v for a claim that is gone", f.announced)
		}
	})
}
