// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestWhatReleasesAClaimWithoutAPod(t *testing.T) {
	become := func(cause ownership.Cause) func(*fixture, claims.Claim) {
		return func(f *fixture, _ claims.Claim) { f.owners.Set(cause, "A") }
	}
	for name, tc := range map[string]struct {
		owner    types.UID
		before   func(*fixture, claims.Claim)
		released bool
		reason   string // why it is kept
	}{
		"its owner lives":       {"A", func(*fixture, claims.Claim) {}, false, "the owner is alive"},
		"its owner is gone":     {"A", become(ownership.Gone), true, ""},
		"its owner is replaced": {"A", become(ownership.Replaced), true, ""},
		"its owner is gone, and its Pod is back": {"A", func(f *fixture, c claims.Claim) {
			f.owners.Set(ownership.Gone, "A")
			f.owners.Set(ownership.Alive, c.PodUID)
		}, false, "the owner is gone, and its pod is not"},
		"its owner is gone, and its Pod cannot be read": {"A", func(f *fixture, c claims.Claim) {
			f.owners.Set(ownership.Gone, "A")
			f.owners.Set(ownership.Unreadable, c.PodUID)
		}, false, "the owner is gone, and its pod is not"},
		"its owner cannot be read": {"A", become(ownership.Unreadable), false, "the owner is " + string(ownership.Unreadable)},
		"a Pod holds it again":     {"A", func(f *fixture, c claims.Claim) { f.owners.Set(ownership.Gone, "A"); f.hasPod[c.ID] = true }, false, ""},
		"a bare Pod is gone":       {"", func(*fixture, claims.Claim) {}, true, ""},
		"a bare Pod lives":         {"", func(f *fixture, c claims.Claim) { f.owners.Set(ownership.Alive, c.PodUID) }, false, "the owner is alive"},
		"preserved, its owner has gone": {"A", func(f *fixture, c claims.Claim) {
			f.preserve(c, true)
			f.owners.Set(ownership.Gone, "A")
		}, true, ""},
		"preserved for its owner": {"A", func(f *fixture, c claims.Claim) { f.preserve(c, true) }, false, "the owner is alive"},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				c := f.claim("a", tc.owner)
				tc.before(f, c)
				f.passes(recheckFirst + missingGather + 10*time.Second)
				if released := len(f.table.Releasing()) == 1; released != tc.released || released != slices.Contains(f.released, c.Key) {
					t.Errorf("releasing %v, recorded %v", f.table.Releasing(), f.released)
				}
				if got := f.check.Reason(c); !tc.released && got != tc.reason {
					t.Errorf("kept because %q, want %q", got, tc.reason)
				}
			})
		})
	}
}

func TestWhenAnOwnerIsRead(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		f.claim("a", "A")
		f.passes(recheckFirst - 10*time.Second)
		if len(f.owners.Reads) > 0 {
			t.Errorf("read %d times at once", len(f.owners.Reads))
		}
		f.passes(time.Hour)
		if got := len(f.owners.Reads); got < 8 || got > 12 {
			t.Errorf("read %d times in an hour", got)
		}
		before := len(f.owners.Reads)
		f.passes(time.Hour)
		if got := len(f.owners.Reads) - before; got < 5 || got > 6 {
			t.Errorf("read %d times in another hour", got)
		}
		f.check.Cancel(keyOf("a"))
		f.check.Pass(t.Context())
		if c, _ := f.read("a"); f.check.Reason(c) != "" {
			t.Error("a cancelled check has a reason")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		time.Sleep(time.Hour)
		before = len(f.owners.Reads)
		if f.check.Pass(ctx); len(f.owners.Reads) != before {
			t.Error("an owner was read after the end")
		}
	})
}

func TestADeletionThatIsKnownNeedsNoWait(t *testing.T) {
	for name, tc := range map[string]struct {
		seen  bool
		lists uint64 // how often the Pods are listed at the end; once at the start
		held  int
	}{
		"seen":                   {true, 2, 0},
		"watched without a list": {false, 1, 0},
		"listed since":           {false, 2, manyMissing},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.lists = 1
				for _, name := range []string{"a", "b", "c"} {
					c := f.claim(name, types.UID(name))
					f.preserve(c, tc.seen)
					if tc.seen {
						f.check.rechecks.deletionSeen(c)
					}
					f.owners.Set(ownership.Gone, types.UID(name))
				}
				f.lists = tc.lists
				f.passes(recheckFirst + missingGather)
				if got := f.check.HeldClaims(); got != tc.held || len(f.table.Releasing()) != manyMissing-tc.held {
					t.Errorf("%d held, %d releasing", got, len(f.table.Releasing()))
				}
			})
		})
	}
}

func TestManyMissingOwnersAreHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		then     func(*fixture)
		after    time.Duration
		released int
	}{
		"for a while":           {func(*fixture) {}, DefaultHold - time.Minute, 0},
		"until the hold ends":   {func(*fixture) {}, DefaultHold + time.Minute, manyMissing},
		"until it is approved":  {func(f *fixture) { f.check.ReleaseHeld(time.Now()) }, 2 * heldRecheck, manyMissing},
		"until they come back":  {func(f *fixture) { f.owners.Set(ownership.Alive, "a", "b", "c") }, 2 * DefaultHold, 0},
		"all but one came back": {func(f *fixture) { f.owners.Set(ownership.Alive, "a", "b") }, 2 * DefaultHold, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				for _, name := range []string{"a", "b", "c"} {
					f.claim(name, types.UID(name))
					f.owners.Set(ownership.Gone, types.UID(name))
				}
				f.passes(recheckFirst + missingGather)
				if _, held := f.check.HeldUntil("sb_1"); !held || f.check.HeldClaims() != manyMissing || len(f.table.Releasing()) > 0 {
					t.Fatalf("%d held, %d releasing", f.check.HeldClaims(), len(f.table.Releasing()))
				}
				tc.then(f)
				f.passes(tc.after)
				if got := len(f.table.Releasing()); got != tc.released {
					t.Errorf("%d released, want %d", got, tc.released)
				}
			})
		})
	}
}

func TestADisplacedClaimCountsUnlessItsDeletionIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		seen bool
		held int
	}{"not seen": {false, 2}, "seen": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				for _, name := range []string{"a", "b"} {
					f.claim(name, types.UID(name))
					f.owners.Set(ownership.Gone, types.UID(name))
				}
				c := f.claim("c", "c")
				if tc.seen {
					f.check.Schedule(c)
					f.check.rechecks.deletionSeen(c)
				}
				f.check.Displaced(c)
				f.check.Displaced(c)
				f.queue.Enqueue(t.Context(), c)
				f.passes(recheckFirst + missingGather)
				if got := f.check.HeldClaims(); got != tc.held {
					t.Errorf("%d held, want %d", got, tc.held)
				}
			})
		})
	}
}

func TestATentativeClaimIsReturned(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("b", "B")
		f.fs.SetFault(func(faultfs.Op) error { return errDisk })
		c.ID = "sb_9"
		if err := f.table.Add(keyOf("a"), c.Row, nil); err == nil {
			t.Fatal("the write was to fail")
		}
		f.fs.SetFault(nil)
		f.passes(recheckFirst)
		if r := f.table.Releasing(); len(r) != 1 || r[0].ID != "sb_9" || len(f.released) > 0 {
			t.Errorf("releasing %v, recorded %v", r, f.released)
		}
	})
}

func TestARowOfAnOlderBuildAuthorisesNothing(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		f.fs.Put("/state/claims.json", []byte(`{"claims":{"agents/a":{"id":"sb_1","token":"t","address":"h:1","podUID":"P-a"}}}`))
		f.open()
		f.passes(time.Hour)
		c, held := f.read("a")
		if !held || len(f.owners.Reads) > 0 || f.check.Reason(c) == "" {
			t.Errorf("held %t, read %v, kept because %q", held, f.owners.Reads, f.check.Reason(c))
		}
		f.check.Schedule(c)
		if f.check.Reason(c) != "" {
			t.Error("a new schedule has a reason")
		}
	})
}
