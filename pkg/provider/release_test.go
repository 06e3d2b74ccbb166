// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// sandboxd refuses a sandbox's own token and still lists the sandbox. The node API token
// destroys it if the listing has the claim's key.
func TestARefusedTokenIsReplacedByTheNodeToken(t *testing.T) {
	for name, tc := range map[string]struct {
		class    sandboxd.Class
		claimRef string
		without  bool // without the release by id
		released bool
	}{
		"listed under the claim's key": {class: sandboxd.NotFound, claimRef: "agents/a", released: true},
		"refused as a credential":      {class: sandboxd.Unauthorized, claimRef: "agents/a", released: true},
		"listed under another key":     {class: sandboxd.NotFound, claimRef: "agents/b"},
		"listed without a key":         {class: sandboxd.NotFound},
		"without a release by id":      {class: sandboxd.NotFound, claimRef: "agents/a", without: true},
		"sandboxd fails":               {class: sandboxd.Unavailable, claimRef: "agents/a"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				claim := w.run("a", "P1", "A")
				w.node.Set(func() {
					w.node.ReleaseErr[claim.ID] = &sandboxd.Error{Op: "release", Class: tc.class}
					w.node.Sandboxes[claim.ID] = sandboxd.Sandbox{ID: claim.ID, ClaimRef: tc.claimRef}
				})
				w.owners.Set(ownership.Gone, "A")
				w.forget(w.pod("a"))
				time.Sleep(gathered + time.Hour)
				if got := slices.Contains(w.node.ReleasedByID, claim.ID); got != tc.released {
					t.Errorf("released by id: %t, want %t", got, tc.released)
				}
				r := w.p.table.Releasing()
				switch {
				case tc.released && len(r) > 0:
					t.Errorf("still releasing %v", r)
				case !tc.released && (len(r) != 1 || r[0].Token != claim.Token):
					t.Errorf("releasing %v, want the claim with its token", r)
				}
			}, func(c *Config) {
				if tc.without {
					c.ReleaseByID = nil
				}
			})
		})
	}
}

// enqueued runs a Pod and has its claim wait in the release queue.
func enqueued(w *world, name string) claims.Claim {
	w.t.Helper()
	claim := w.run(name, "P-"+uid(name), uid(name))
	w.owners.Set(ownership.Gone, uid(name))
	w.forget(w.pod(name))
	time.Sleep(reconcileEvery + gathered)
	return claim
}

func TestOneHangingReleaseHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		hang := make(chan struct{})
		w.node.Set(func() { w.node.Hang["sb_1"] = hang })
		first := enqueued(w, "a")
		if r := w.p.table.Releasing(); len(r) != 1 || r[0].ID != first.ID {
			t.Fatalf("releasing %v, want the one that hangs", r)
		}
		second := enqueued(w, "b")
		if got := w.node.Destroyed(); !slices.Equal(got, []string{second.ID}) {
			t.Errorf("released %v beside the one that hangs, want %s", got, second.ID)
		}
		close(hang)
		time.Sleep(time.Second)
		if got := w.node.Destroyed(); len(got) != 2 || len(w.p.table.Releasing()) > 0 {
			t.Errorf("released %v, still releasing %d", got, len(w.p.table.Releasing()))
		}
	})
}

// The release is retried until sandboxd has confirmed it, also by the next daemon.
func TestAReleaseIsTriedUntilItIsConfirmed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.node.Set(func() { w.node.ReleaseErr["sb_1"] = fakes.Failing("release") })
		claim := enqueued(w, "a")
		time.Sleep(48 * time.Hour)
		w.restart()
		time.Sleep(time.Minute)
		if r := w.p.table.Releasing(); len(r) != 1 || r[0].Token != claim.Token {
			t.Fatalf("releasing %v", r)
		}
		w.node.Set(func() {
			clear(w.node.ReleaseErr)
			w.node.Sandboxes[claim.ID] = sandboxd.Sandbox{ID: claim.ID}
		})
		time.Sleep(2 * releaseRetry)
		if len(w.node.Destroyed()) != 1 || len(w.p.table.Releasing()) > 0 {
			t.Errorf("released %v, still releasing %d", w.node.Destroyed(), len(w.p.table.Releasing()))
		}
	})
}

// A 404 can be the answer to a wrong token. Only a long absence from the index confirms
// the release, not an index that is being rebuilt.
func TestAReleaseThatIsNotFound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "A")
		w.node.Set(func() { w.node.ReleaseErr[claim.ID], w.node.Rebuilding = fakes.NotFound("release"), true })
		w.owners.Set(ownership.Gone, "A")
		w.remove("a")
		time.Sleep(goneAfter - 2*releaseRetry)
		if r := w.p.table.Releasing(); len(r) != 1 || r[0].Token != claim.Token {
			t.Fatalf("releasing %v, before the loss is certain", r)
		}
		w.node.Set(func() { w.node.Rebuilding = false; clear(w.node.ReleaseErr) })
		time.Sleep(2 * releaseRetry)
		if got := w.node.Destroyed(); !slices.Equal(got, []string{claim.ID}) {
			t.Errorf("released %v after the rebuild", got)
		}
	})
}

// A deletion does not wait for a create of another Pod.
func TestADeletionWaitsForNoHangingCreate(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "A")
		w.owners.Set(ownership.Gone, "A")
		hang := make(chan struct{})
		defer func() { close(hang); synctest.Wait() }()
		// More than there are observers, all of them deleted while they hang.
		for i := range 2 * observers {
			name := "b" + string(uid(i))
			w.node.Set(func() { w.node.Hang[namespace+"/"+name] = hang })
			pod := w.add(fakes.NewPod(name, "P-"+uid(name), uid(name)))
			go func() { _ = w.p.CreatePod(t.Context(), pod) }()
		}
		synctest.Wait()
		for i := range 2 * observers {
			w.remove("b" + string(uid(i)))
		}
		w.remove("a")
		time.Sleep(time.Second)
		if got := w.node.Destroyed(); !slices.Equal(got, []string{claim.ID}) {
			t.Errorf("released %v", got)
		}
	})
}
