// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestDestroy(t *testing.T) {
	refused := &sandboxd.Error{Op: "release", Class: sandboxd.Unauthorized, Status: 401}
	for name, tc := range map[string]struct {
		before    func(*fixture)
		gone      bool
		class     sandboxd.Class // of the error; empty for none
		destroyed bool
		why       string
	}{
		"it runs":                   {func(*fixture) {}, true, "", true, ""},
		"sandboxd fails":            {func(f *fixture) { f.node.ReleaseErr["sb_1"] = fakes.Failing("release") }, false, sandboxd.Unavailable, false, "sandboxd failed"},
		"not known just now":        {func(f *fixture) { f.node.Lose("sb_1") }, false, "", false, "it is not listed just now, which is not sure yet"},
		"gone with its lease":       {func(*fixture) { time.Sleep(fakes.DefaultLease) }, true, "", false, ""},
		"not known, no list":        {func(f *fixture) { f.node.Lose("sb_1"); f.node.ListErr = fakes.Failing("list") }, false, sandboxd.Unavailable, false, "sandboxd failed"},
		"not known, no single read": {func(f *fixture) { f.node.Lose("sb_1"); f.node.GetErr["sb_1"] = fakes.Failing("get") }, false, sandboxd.Unavailable, false, "sandboxd failed"},
		"its token is refused":      {func(f *fixture) { f.node.ReleaseErr["sb_1"] = refused }, true, "", true, ""},
		"its token is not known":    {func(f *fixture) { f.node.ReleaseErr["sb_1"] = fakes.NotFound("release") }, true, "", true, ""},
		"its id has another claim":  {func(f *fixture) { f.give("sb_1", keyOf("z")); f.node.ReleaseErr["sb_1"] = refused }, false, sandboxd.Unauthorized, false, string(sandboxd.Unauthorized)},
		"no node API token":         {func(f *fixture) { f.queue.releaseByID = nil; f.node.ReleaseErr["sb_1"] = refused }, false, sandboxd.Unauthorized, false, string(sandboxd.Unauthorized)},
		"the node API token is not": {func(f *fixture) { f.queue.releaseByID = f.refuse; f.node.ReleaseErr["sb_1"] = refused }, false, sandboxd.Unavailable, false, "sandboxd failed"},
		"listed by the read alone": {func(f *fixture) {
			f.queue.index = hidden{f.queue.index}
			f.node.ReleaseErr["sb_1"] = fakes.NotFound("release")
		}, false, sandboxd.NotFound, false, "not found"},
		"an error of another source": {func(f *fixture) { f.node.ReleaseErr["sb_1"] = errDisk }, false, "", false, "the call failed"},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				c := f.claim("a", "A")
				tc.before(f)
				gone, err := f.queue.Destroy(t.Context(), c)
				if gone != tc.gone || sandboxd.ClassOf(err) != tc.class || gone && err != nil {
					t.Errorf("gone %t, err %v, want %t and class %q", gone, err, tc.gone, tc.class)
				}
				if got := len(f.node.Destroyed()) > 0; got != tc.destroyed {
					t.Errorf("destroyed %v", f.node.Destroyed())
				}
				if why, _ := f.queue.Unconfirmed("sb_1"); why != tc.why {
					t.Errorf("unconfirmed because %q, want %q", why, tc.why)
				}
				if _, held := f.read("a"); !held {
					t.Error("the credential is gone")
				}
			})
		})
	}
}

// give changes the claim_ref of a sandbox.
func (f *fixture) give(id, ref string) {
	s := f.node.Sandboxes[id]
	s.ClaimRef = ref
	f.node.Sandboxes[id] = s
}

func (f *fixture) refuse(context.Context, string) error { return fakes.Failing("release by id") }

// hidden is an index whose list lacks every sandbox.
type hidden struct{ Index }

func (h hidden) List(ctx context.Context) (sandboxes.Listing, error) {
	_, err := h.Index.List(ctx)
	return nil, err
}

func TestTheQueueTriesUntilTheReleaseIsConfirmed(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a", "A")
		f.node.ReleaseErr[c.ID] = fakes.Failing("release")
		defer f.run()()
		f.queue.Enqueue(t.Context(), c)
		synctest.Wait()
		if why, tried := f.queue.Unconfirmed(c.ID); !tried || why == "" {
			t.Error("it was not tried at once")
		}
		time.Sleep(time.Hour)
		if r := f.table.Releasing(); len(r) != 1 || r[0].Token != c.Token {
			t.Fatalf("releasing %v", r)
		}
		f.node.Set(func() { delete(f.node.ReleaseErr, c.ID) })
		time.Sleep(2 * retryEvery)
		if _, tried := f.queue.Unconfirmed(c.ID); tried || len(f.table.Releasing()) > 0 || !slices.Equal(f.node.Destroyed(), []string{c.ID}) {
			t.Errorf("releasing %v, destroyed %v", f.table.Releasing(), f.node.Destroyed())
		}
	})
}

func TestOneReleaseDelaysNoOther(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		first, second := f.claim("a", "A"), f.claim("b", "B")
		hang := make(chan struct{})
		f.node.Hang[first.ID] = hang
		stop := f.run()
		f.queue.Enqueue(t.Context(), first)
		f.queue.Enqueue(t.Context(), second)
		synctest.Wait()
		if got := f.node.Destroyed(); !slices.Equal(got, []string{second.ID}) {
			t.Errorf("destroyed %v", got)
		}
		close(hang)
		stop()
		if got := f.node.Destroyed(); len(got) != 2 {
			t.Errorf("Run returned before the release ended: destroyed %v", got)
		}
	})
}

func TestASandboxThatAPodUsesIsNotReleased(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a", "A")
		if err := f.table.Add(keyOf("b"), c.Row, nil); !errors.Is(err, claims.ErrOtherClaim) {
			t.Fatal(err)
		}
		defer f.run()()
		time.Sleep(time.Hour)
		if got := f.node.Destroyed(); len(got) > 0 {
			t.Errorf("destroyed %v", got)
		}
	})
}

func TestAFileThatFailsKeepsTheCredential(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a", "A")
		f.fs.SetFault(func(faultfs.Op) error { return errDisk })
		f.queue.Enqueue(t.Context(), c)
		stop := f.run()
		synctest.Wait()
		stop()
		if len(f.table.Releasing()) > 0 || len(f.node.Destroyed()) != 1 {
			t.Errorf("releasing %v, destroyed %v", f.table.Releasing(), f.node.Destroyed())
		}
		f.fs.SetFault(nil)
		f.open() // the file has the row under its key
		if again, held := f.read("a"); !held || again.Token != c.Token {
			t.Errorf("after a restart: held %t", held)
		}
	})
}

func TestTriesArePruned(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a", "A")
		f.node.ReleaseErr[c.ID] = fakes.Failing("release")
		_, _ = f.queue.Destroy(t.Context(), c)
		f.queue.Prune(map[string]claims.Claim{c.ID: c})
		if _, tried := f.queue.Unconfirmed(c.ID); !tried {
			t.Error("a claimed sandbox was pruned")
		}
		f.queue.Prune(nil)
		if _, tried := f.queue.Unconfirmed(c.ID); tried {
			t.Error("a sandbox that nobody claims was kept")
		}
	})
}
