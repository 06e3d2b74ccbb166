// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/release"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const key = fakes.Namespace + "/a"

// fixture is a Binder over a real table, index and release queue.
type fixture struct {
	t      *testing.T
	b      *Binder
	fs     *faultfs.FS
	node   *fakes.Sandboxd
	table  *claims.Table
	pods   *pods.Manager
	cache  cache.Indexer
	events *fakes.Events
	// cancelled has the keys whose owner checks were cancelled, published those whose
	// status was.
	cancelled, published []string
	displaced            []string // sandbox ids
}

func (f *fixture) Cancel(key string)        { f.cancelled = append(f.cancelled, key) }
func (f *fixture) Displaced(c claims.Claim) { f.displaced = append(f.displaced, c.ID) }
func (f *fixture) Enqueue(key string)       { f.published = append(f.published, key) }

// inFixture runs a test under virtual time.
func inFixture(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, fs: faultfs.New(), node: fakes.NewSandboxd(), events: &fakes.Events{}}
		f.open()
		test(t, f)
	})
}

// open loads the table, as a start does.
func (f *fixture) open() {
	f.t.Helper()
	table := fakes.OpenTable(f.t, f.fs)
	indexer, lister := fakes.PodCache()
	f.table, f.cache, f.pods = table, indexer, pods.NewManager(lister)
	index := sandboxes.NewIndex(f.node, table, f.pods.EndedWithSandbox)
	f.b = New(Config{
		Table: table, Client: f.node, Index: index, OwnerCheck: f, Pods: f.pods, Statuses: f,
		Releases: release.NewQueue(release.Config{Table: table, Client: f.node, Index: index}),
		Events:   events.NewRecorder(f.events), PodsSynced: func() bool { return true },
	})
}

// left makes a claim that a Pod P0 of the owner left; its sandbox runs.
func (f *fixture) left(owner types.UID) claims.Claim {
	f.t.Helper()
	got, err := f.node.Claim(f.t.Context(), sandboxd.ClaimRequest{ClaimRef: key})
	if err != nil {
		f.t.Fatal(err)
	}
	holder := pods.HolderOf(fakes.NewPod("a", "P0", owner))
	if err := errors.Join(f.table.Add(key, claims.NewRow(got, holder, time.Now()), nil), f.table.Preserve(key, got.ID, holder.Controller, time.Time{})); err != nil {
		f.t.Fatal(err)
	}
	c, _ := f.table.Get(key)
	return c
}

// handedOver leaves a claim that the Pod past held before a Pod of the owner T.
func (f *fixture) handedOver(past types.UID) {
	f.t.Helper()
	c := f.left("S")
	for _, pod := range []*corev1.Pod{fakes.NewPod("a", past, "S"), fakes.NewPod("a", "P2", "T")} {
		if err := f.table.Bind(key, c.ID, pods.HolderOf(pod)); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := f.table.Preserve(key, c.ID, pods.HolderOf(fakes.NewPod("a", "P2", "T")).Controller, time.Time{}); err != nil {
		f.t.Fatal(err)
	}
}

// ensure calls EnsureClaim for a Pod of the owner S.
func (f *fixture) ensure(uid types.UID, change ...func(*corev1.Pod)) error {
	pod := fakes.NewPod("a", uid, "S")
	for _, c := range change {
		c(pod)
	}
	return f.b.EnsureClaim(f.t.Context(), pod)
}

func published(id string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status = podstatus.Running(p, podstatus.Binding{ClaimID: id, Address: "10.0.0.5:7777"})
	}
}

func TestEnsureClaim(t *testing.T) {
	expire := func() { time.Sleep(fakes.DefaultLease) }
	for name, tc := range map[string]struct {
		before func(*fixture)
		uid    types.UID
		change []func(*corev1.Pod)
		err    error
		// refused is true for any other error.
		refused bool
		id      string // of the claim afterwards; empty for none
		event   string // on the Pod
		posts   int
		ended   string // why the Pod has ended
	}{
		"a new Pod":                {before: func(*fixture) {}, uid: "P1", id: "sb_1", event: events.ReasonClaimed, posts: 1},
		"a Pod that has its claim": {before: func(f *fixture) { _ = f.ensure("P1") }, uid: "P1", id: "sb_1", event: events.ReasonClaimed, posts: 1},
		"a loaded claim":           {before: func(f *fixture) { _ = f.ensure("P1"); f.open() }, uid: "P1", err: ErrAwaitingNode, id: "sb_1", event: events.ReasonClaimed, posts: 1},
		"a lease that ended": {before: func(f *fixture) { _ = f.ensure("P1"); expire() }, uid: "P1", id: "sb_1", event: podstatus.ReasonLeaseExpired,
			posts: 1, ended: podstatus.ReasonLeaseExpired},
		"a lease that moved": {before: func(f *fixture) {
			_ = f.ensure("P1")
			f.node.Sandboxes["sb_1"] = sandboxd.Sandbox{ID: "sb_1", ClaimRef: key}
			expire()
		}, uid: "P1", id: "sb_1", event: events.ReasonClaimed, posts: 1},
		"a lease nobody knows of": {before: func(f *fixture) { _ = f.ensure("P1"); expire(); f.node.ListErr = fakes.Failing("list") }, uid: "P1",
			err: ErrAwaitingNode, id: "sb_1", event: events.ReasonClaimed, posts: 1},
		"kept for its owner":         {before: func(f *fixture) { f.left("S") }, uid: "P1", id: "sb_1", event: events.ReasonAdopted, posts: 1},
		"kept, loaded":               {before: func(f *fixture) { f.left("S"); f.open() }, uid: "P1", err: ErrAwaitingNode, id: "sb_1", posts: 1},
		"kept, no answer":            {before: func(f *fixture) { f.left("S"); f.node.GetErr["sb_1"] = fakes.Failing("get") }, uid: "P1", err: ErrAwaitingNode, id: "sb_1", posts: 1},
		"kept, missing just now":     {before: func(f *fixture) { f.left("S"); f.node.Lose("sb_1") }, uid: "P1", err: ErrAwaitingNode, id: "sb_1", posts: 1},
		"kept, gone with its lease":  {before: func(f *fixture) { f.left("S"); expire() }, uid: "P1", id: "sb_2", event: podstatus.ReasonLost, posts: 2},
		"kept for another owner":     {before: func(f *fixture) { f.left("T") }, uid: "P1", id: "sb_2", event: events.ReasonClaimed, posts: 2},
		"kept, but it ran elsewhere": {before: func(f *fixture) { f.left("S") }, uid: "P1", change: []func(*corev1.Pod){published("sb_9")}, err: ErrAwaitingNode, id: "sb_1", posts: 1},
		"kept for another owner, but it held it before": {before: func(f *fixture) { f.handedOver("P1") }, uid: "P1", change: []func(*corev1.Pod){published("sb_1")},
			id: "sb_1", event: events.ReasonAdopted, posts: 1},
		"kept for another owner, and it claims to have run on it": {before: func(f *fixture) { f.left("T") }, uid: "P1", change: []func(*corev1.Pod){published("sb_1")},
			err: errKeptForOther, id: "sb_1", posts: 1},
		"ran on a sandbox without a claim": {before: func(f *fixture) { f.node.Sandboxes["sb_9"] = sandboxd.Sandbox{ID: "sb_9"} }, uid: "P1",
			change: []func(*corev1.Pod){published("sb_9")}, err: errNoCredential},
		"another runtime": {before: func(*fixture) {}, uid: "P1", change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Annotations[podcontract.AnnotationRuntime] = "gvisor" }}, refused: true},
		"no template":     {before: func(*fixture) {}, uid: "P1", change: []func(*corev1.Pod){func(p *corev1.Pod) { delete(p.Annotations, podcontract.AnnotationTemplate) }}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				tc.before(f)
				err := f.ensure(tc.uid, tc.change...)
				if tc.refused != (err != nil && tc.err == nil) || tc.err != nil && !errors.Is(err, tc.err) {
					t.Errorf("err = %v, want %v, or any other: %t", err, tc.err, tc.refused)
				}
				if c, _ := f.table.Get(key); c.ID != tc.id || f.node.ClaimCount() != tc.posts {
					t.Errorf("holds %q after %d claims, want %q after %d", c.ID, f.node.ClaimCount(), tc.id, tc.posts)
				}
				if tc.event != "" && !slices.Contains(f.events.Of("Pod/a"), tc.event) {
					t.Errorf("events %v, want %s", f.events.Of("Pod/a"), tc.event)
				}
				tracked, _ := f.pods.Get(key)
				if got := tracked.End; (got != nil) != (tc.ended != "") || got != nil && got.Reason != tc.ended {
					t.Errorf("the Pod has ended as %+v, want %q", got, tc.ended)
				}
				if len(f.node.Destroyed()) > 0 {
					t.Errorf("destroyed %v", f.node.Destroyed())
				}
			})
		})
	}
}

func TestADisplacedClaimIsReleasedLater(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		old := f.left("T")
		if err := f.ensure("P1"); err != nil {
			t.Fatal(err)
		}
		if r := f.table.Releasing(); len(r) != 1 || r[0].Token != old.Token || !slices.Contains(f.events.Of("Sandbox/of-T"), events.ReasonReleased) {
			t.Errorf("releasing %v, events of the old owner %v", r, f.events.Of("Sandbox/of-T"))
		}
		if !slices.Equal(f.cancelled, []string{key}) || !slices.Equal(f.displaced, []string{old.ID}) {
			t.Errorf("the checks of %v were cancelled, displaced %v", f.cancelled, f.displaced)
		}
	})
}

func TestASandboxThatWasLostEndsItsPod(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		var err error
		for range 7 {
			if err = f.ensure("P1", published("sb_9")); err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
		tracked, _ := f.pods.Get(key)
		if err != nil || f.node.ClaimCount() > 0 || tracked.End == nil || tracked.End.Binding.ClaimID != "sb_9" {
			t.Errorf("err %v, %d claims, the Pod %+v", err, f.node.ClaimCount(), tracked.End)
		}
	})
}

func TestAFullNodeIsNotAskedBeforeItsWait(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		f.node.ClaimErr = &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429, Wait: time.Minute}
		for range 3 {
			if err := f.ensure("P1"); sandboxd.ClassOf(err) != sandboxd.NoCapacity {
				t.Errorf("err = %v", err)
			}
		}
		if got := f.node.ClaimCount(); got != 1 {
			t.Errorf("asked %d times", got)
		}
		f.node.ClaimErr = nil
		time.Sleep(time.Minute)
		if err := f.ensure("P1"); err != nil {
			t.Error(err)
		}
	})
}

func TestAClaimThatCannotBeRecorded(t *testing.T) {
	full := errors.New("no space left")
	for name, tc := range map[string]struct {
		release   error // of sandboxd
		held      bool  // the credential stays under the key
		destroyed int
	}{
		"is returned":                      {nil, false, 1},
		"is kept if it cannot be returned": {fakes.Failing("release"), true, 0},
		"is kept if its token is refused":  {fakes.NotFound("release"), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.node.ReleaseErr["sb_1"] = tc.release
				f.fs.SetFault(func(faultfs.Op) error { return full })
				if err := f.ensure("P1"); !errors.Is(err, full) {
					t.Errorf("err = %v", err)
				}
				c, held := f.table.Get(key)
				if held != tc.held || held && c.State != claims.Tentative || len(f.node.Destroyed()) != tc.destroyed {
					t.Errorf("held %t as %q, destroyed %v", held, c.State, f.node.Destroyed())
				}
				// The next attempt returns it first, once the disk and sandboxd work.
				f.fs.SetFault(nil)
				delete(f.node.ReleaseErr, "sb_1")
				if err := f.ensure("P1"); err != nil {
					t.Fatal(err)
				}
				if c, _ := f.table.Get(key); c.ID != "sb_2" || c.State != claims.Bound || !slices.Equal(f.node.Destroyed(), []string{"sb_1"}) {
					t.Errorf("holds %s as %s, destroyed %v", c.ID, c.State, f.node.Destroyed())
				}
			})
		})
	}
}

func TestFollow(t *testing.T) {
	for name, tc := range map[string]struct {
		uid   types.UID
		owner types.UID
		want  types.UID
	}{
		"the same controller": {"P1", "S", "S"},
		"another controller":  {"P1", "T", "T"},
		"no controller":       {"P1", "", ""},
		"of another Pod":      {"P2", "T", "S"},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				if err := f.ensure("P1"); err != nil {
					t.Fatal(err)
				}
				c, _ := f.table.Get(key)
				f.b.Follow(t.Context(), fakes.NewPod("a", tc.uid, tc.owner), c)
				c, _ = f.table.Get(key)
				if got := pods.HolderOf(fakes.NewPod("a", "P1", tc.want)); !c.ControlledAs(got) {
					t.Errorf("controlled by %s, want %q", ownerName(c.Controller), tc.want)
				}
			})
		})
	}
}

func TestSandboxGone(t *testing.T) {
	for name, tc := range map[string]struct {
		before      func(*fixture) claims.Claim
		held, ended bool
	}{
		"its Pod runs": {func(f *fixture) claims.Claim {
			_ = f.ensure("P1")
			c, _ := f.table.Get(key)
			return c
		}, true, true},
		"the key has another claim": {func(f *fixture) claims.Claim {
			_ = f.ensure("P1")
			c, _ := f.table.Get(key)
			c.ID = "sb_0"
			return c
		}, true, false},
		"no Pod, and the lease runs": {func(f *fixture) claims.Claim { return f.left("S") }, true, false},
		"no Pod, just after its lease": {func(f *fixture) claims.Claim {
			c := f.left("S")
			time.Sleep(fakes.DefaultLease)
			return c
		}, true, false},
		"no Pod, long after its lease": {func(f *fixture) claims.Claim {
			c := f.left("S")
			time.Sleep(fakes.DefaultLease + 10*time.Minute)
			for range 6 {
				f.b.SandboxGone(f.t.Context(), c)
				time.Sleep(time.Minute)
			}
			return c
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				c := tc.before(f)
				f.b.SandboxGone(t.Context(), c)
				_, held := f.table.Get(key)
				tracked, _ := f.pods.Get(key)
				if ended := tracked.End != nil; held != tc.held || ended != tc.ended || ended != (len(f.published) > 0) {
					t.Errorf("held %t, ended %t, published %v", held, ended, f.published)
				}
			})
		})
	}
}
