// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/release"
)

// gathered is when a claim that lost its Pod and owner unseen is released, if too few
// others did: after its first check and missingGather.
const gathered = recheckFirst + missingGather + 2*recheckEvery

// runAll runs a Pod of an owner of its own for each name. Pod and owner have the UIDs
// P-<name> and <name>.
func runAll(w *world, names string) {
	for _, name := range strings.Fields(names) {
		w.run(name, types.UID("P-"+name), types.UID(name))
	}
}

// vanish removes Pods and their owners at once; seen is true if the deletions of the Pods
// were seen.
func vanish(w *world, names string, seen bool) {
	for _, name := range strings.Fields(names) {
		w.owners.Set(ownership.Gone, types.UID(name))
		w.leave(w.pod(name), seen)
	}
	synctest.Wait()
}

func TestFewOwnersThatVanishUnseen(t *testing.T) {
	for _, names := range []string{"a", "a b"} {
		t.Run(names, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				runAll(w, names+" z")
				vanish(w, names, false)
				time.Sleep(missingGather)
				if len(w.node.Destroyed()) > 0 {
					t.Errorf("released %v without waiting for others", w.node.Destroyed())
				}
				time.Sleep(gathered)
				if got, want := len(w.node.Destroyed()), len(strings.Fields(names)); got != want || w.p.HeldClaims() > 0 {
					t.Errorf("%d released, %d held, want %d released", got, w.p.HeldClaims(), want)
				}
			})
		})
	}
}

// An API server restored from an older backup has lost many Pods and owners. Their claims
// are held, and released after the hold.
func TestManyOwnersThatVanishUnseenAreHeld(t *testing.T) {
	for name, by := range map[string]struct {
		hold   time.Duration
		vanish func(w *world)
	}{
		"by a list": {release.DefaultHold, func(w *world) { vanish(w, "a b c", false) }},
		"while the daemon is down": {release.DefaultHold, func(w *world) {
			w.stop()
			for _, name := range []string{"a", "b", "c"} {
				w.owners.Set(ownership.Gone, types.UID(name))
				w.forget(w.pod(name))
			}
			w.start()
		}},
		"with another hold": {4 * time.Hour, func(w *world) { vanish(w, "a b c", false) }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				runAll(w, "a b c z")
				by.vanish(w)
				time.Sleep(by.hold)
				if len(w.node.Destroyed()) > 0 || w.p.HeldClaims() != 3 {
					t.Fatalf("released %v, %d held, want three held", w.node.Destroyed(), w.p.HeldClaims())
				}
				c, _ := w.row("b")
				if got := w.p.WaitingFor(c); !strings.Contains(got, "an operator, or 2000-01-01T") || !strings.Contains(got, "no deletion was seen") {
					t.Errorf("waiting for %q", got)
				}
				time.Sleep(gathered + heldRecheck)
				if len(w.node.Destroyed()) != 3 || w.p.HeldClaims() != 0 {
					t.Errorf("released %v, %d held after the hold", w.node.Destroyed(), w.p.HeldClaims())
				}
			}, func(c *Config) { c.MissingOwnersHold = by.hold })
		})
	}
}

// A Pod of another owner takes one of the names. That claim is released, and the others
// are still held.
func TestATakenNameEndsNoHold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		runAll(w, "a b c")
		vanish(w, "a b c", false)
		taken, _ := w.row("c")
		w.run("c", "P2", "C")
		time.Sleep(release.DefaultHold)
		if gone := w.node.Destroyed(); len(gone) != 1 || gone[0] != taken.ID || w.p.HeldClaims() != 2 {
			t.Errorf("released %v, %d held, want only %s released and two held", gone, w.p.HeldClaims(), taken.ID)
		}
	})
}

func TestHeldClaims(t *testing.T) {
	for name, tc := range map[string]struct {
		act      func(w *world)
		released int // soon after it
		held     int
		finally  int // after the hold
	}{
		"an operator releases them":     {func(w *world) { w.p.ReleaseHeld(time.Now()) }, 3, 0, 3},
		"an approval from before them":  {func(w *world) { w.p.ReleaseHeld(time.Now().Add(-time.Hour)) }, 0, 3, 3},
		"an owner is back":              {func(w *world) { w.owners.Set(ownership.Alive, "b") }, 0, 2, 2},
		"an owner is back, deleted":     {func(w *world) { w.owners.Set(ownership.Deleting, "b") }, 1, 2, 3},
		"an owner cannot be read":       {func(w *world) { w.owners.Set(ownership.Unreadable, "b") }, 0, 3, 2},
		"the operator, an owner's back": {func(w *world) { w.owners.Set(ownership.Alive, "b"); w.p.ReleaseHeld(time.Now()) }, 2, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				runAll(w, "a b c")
				vanish(w, "a b c", false)
				time.Sleep(30 * time.Minute)
				tc.act(w)
				time.Sleep(heldRecheck + recheckEvery)
				if len(w.node.Destroyed()) != tc.released || w.p.HeldClaims() != tc.held {
					t.Errorf("released %v, %d held, want %d and %d", w.node.Destroyed(), w.p.HeldClaims(), tc.released, tc.held)
				}
				time.Sleep(time.Hour)
				if len(w.node.Destroyed()) != tc.finally {
					t.Errorf("released %v in the end, want %d", w.node.Destroyed(), tc.finally)
				}
			})
		})
	}
}

// An owner that cannot be read may be missing like the others.
func TestUnreadableOwnersCount(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		runAll(w, "a b c")
		vanish(w, "a b c", false)
		w.owners.Set(ownership.Unreadable, "c")
		time.Sleep(30 * time.Minute)
		if len(w.node.Destroyed()) > 0 || w.p.HeldClaims() != 3 {
			t.Errorf("released %v, %d held", w.node.Destroyed(), w.p.HeldClaims())
		}
	})
}

// A deletion that was seen is decided at once, however many there are.
func TestSeenDeletionsAreDecidedAtOnce(t *testing.T) {
	for name, act := range map[string]func(w *world){
		"the Pods leave": func(w *world) { vanish(w, "a b c d", true) },
		"the Pods are being deleted": func(w *world) {
			for _, name := range []string{"a", "b", "c", "d"} {
				w.owners.Set(ownership.Gone, types.UID(name))
				w.remove(name)
			}
		},
		"the owners are being deleted": func(w *world) {
			w.owners.Set(ownership.Deleting, "a", "b", "c", "d")
			for _, name := range []string{"a", "b", "c", "d"} {
				w.leave(w.pod(name), true)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				runAll(w, "a b c d")
				act(w)
				synctest.Wait()
				if len(w.node.Destroyed()) != 4 || w.p.HeldClaims() > 0 {
					t.Errorf("released %v, %d held", w.node.Destroyed(), w.p.HeldClaims())
				}
			})
		})
	}
}

// While the Pods are watched without a new list, no history was lost: an owner that was
// alive then and is gone now was deleted.
func TestOwnersThatGoWhileThePodsAreWatched(t *testing.T) {
	for name, tc := range map[string]struct {
		deleted ownership.Cause // of the owners, at the deletion of their Pods
		relist  bool
		held    int
	}{
		"no new list":             {ownership.Alive, false, 0},
		"a new list in between":   {ownership.Alive, true, 3},
		"not read since, a list":  {ownership.Unreadable, true, 0},
		"not read since, no list": {ownership.Unreadable, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var lists atomic.Uint64
			lists.Store(1)
			inWorld(t, func(t *testing.T, w *world) {
				runAll(w, "a b c")
				w.owners.Set(tc.deleted, "a", "b", "c")
				for _, name := range []string{"a", "b", "c"} {
					w.remove(name)
				}
				if tc.relist {
					lists.Add(1)
				}
				w.owners.Set(ownership.Gone, "a", "b", "c")
				time.Sleep(recheckFirst + 2*recheckEvery)
				synctest.Wait()
				if want := 3 - tc.held; len(w.node.Destroyed()) != want {
					t.Errorf("released %v by the first reading, want %d", w.node.Destroyed(), want)
				}
				time.Sleep(gathered)
				if w.p.HeldClaims() != tc.held || len(w.node.Destroyed()) != 3-tc.held {
					t.Errorf("released %v, %d held, want %d held", w.node.Destroyed(), w.p.HeldClaims(), tc.held)
				}
			}, func(c *Config) { c.PodsListed = lists.Load })
		})
	}
}
