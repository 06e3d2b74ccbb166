// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const key = fakes.Namespace + "/a"

// fixture is a Decider over a real table. It replaces the other packages and records the
// calls to them, in order.
type fixture struct {
	t      *testing.T
	d      *Decider
	fs     *faultfs.FS
	table  *claims.Table
	pods   *pods.Manager
	cache  cache.Indexer
	events *fakes.Events
	// removals is how often the removal of a Pod was asked for; removeErr fails it.
	removals  int
	removeErr error

	verdict    ownership.Decision
	read       []*claims.Owner // the owners that were read
	unsure     bool            // the destruction of a sandbox is not confirmed
	destroyErr error
	did        []string
}

func (f *fixture) ReturnClaim(_ context.Context, c claims.Claim) error {
	f.did = append(f.did, "return "+c.ID)
	return f.destroyErr
}

func (f *fixture) Follow(_ context.Context, pod *corev1.Pod, c claims.Claim) {
	if holder := pods.HolderOf(pod); !c.ControlledAs(holder) {
		if err := f.table.Follow(c.Key, c.ID, holder); err != nil {
			f.t.Error(err)
		}
	}
}

func (f *fixture) ReadVerdict(_ context.Context, _ claims.Claim, owner *claims.Owner) ownership.Decision {
	f.read = append(f.read, owner)
	return f.verdict
}

func (f *fixture) Schedule(c claims.Claim) { f.did = append(f.did, "schedule "+c.ID) }

func (f *fixture) Preserved(_ context.Context, c claims.Claim, _ ownership.Decision, seen bool) {
	f.did = append(f.did, "preserve "+c.ID)
	if seen {
		f.did = append(f.did, "seen")
	}
}

// releases is the release queue of a fixture.
type releases struct{ *fixture }

func (r releases) Destroy(_ context.Context, c claims.Claim) (bool, error) {
	r.did = append(r.did, "destroy "+c.ID)
	return r.destroyErr == nil && !r.unsure, r.destroyErr
}
func (r releases) Forget(_ context.Context, c claims.Claim)  { r.did = append(r.did, "forget "+c.ID) }
func (r releases) Enqueue(_ context.Context, c claims.Claim) { r.did = append(r.did, "enqueue "+c.ID) }

// statuses has the status of a Pod that has ended.
type statuses struct{ *fixture }

func (s statuses) Status(t pods.Tracked) (corev1.PodStatus, string) {
	return podstatus.Failed(t.Pod, t.End.Binding, t.End.Reason, t.End.Message, t.End.At), t.End.Binding.ClaimID
}
func (s statuses) Enqueue(key string) { s.did = append(s.did, "publish "+key) }

func inFixture(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, fs: faultfs.New(), events: &fakes.Events{}}
		table := fakes.OpenTable(t, f.fs)
		indexer, lister := fakes.PodCache()
		client := &fake.Clientset{}
		client.AddReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			f.removals++
			if got := a.(clienttesting.DeleteActionImpl).DeleteOptions; *got.GracePeriodSeconds != 0 || *got.Preconditions.UID != "P1" {
				t.Errorf("removed with %+v", got)
			}
			return true, nil, f.removeErr
		})
		f.table, f.cache, f.pods = table, indexer, pods.NewManager(lister)
		f.d = New(Config{
			Table: table, Pods: f.pods, Binder: f, OwnerCheck: f, Releases: releases{f}, Statuses: statuses{f},
			Events: events.NewRecorder(f.events), PodClient: client.CoreV1(),
		})
		test(t, f)
	})
}

// claim gives the Pod P1 a claim, with the controller A.
func (f *fixture) claim() {
	f.t.Helper()
	row := claims.Row{ID: "sb_1", PodUID: "P1", Authority: "A", Controller: pods.ControllerOf(pod()), ClaimedAt: time.Now()}
	if err := f.table.Add(key, row, nil); err != nil {
		f.t.Fatal(err)
	}
}

func pod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := fakes.NewPod("a", "P1", "A")
	for _, c := range change {
		c(p)
	}
	return p
}

func deleting(p *corev1.Pod)  { p.DeletionTimestamp = new(metav1.Now()) }
func lingering(p *corev1.Pod) { p.Finalizers = []string{"example.com/audit"} }
func controlledBy(owner types.UID) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences = fakes.ControlledBy(owner) }
}

func (f *fixture) add(p *corev1.Pod) {
	if err := f.cache.Add(p); err != nil {
		f.t.Fatal(err)
	}
}

// gone tracks the Pod and lets it leave the API.
func (f *fixture) gone(seen bool) {
	f.pods.Track(pod())
	f.pods.Departed(pod(), seen)
}

var (
	gone  = ownership.Decision{Release: true, Cause: ownership.Gone, Reason: "the owner is gone"}
	alive = ownership.Decision{Cause: ownership.Alive, Reason: "the owner is alive"}
)

func TestWhatBecomesOfTheClaimOfADeletedPod(t *testing.T) {
	failed := errors.New("no answer")
	for name, tc := range map[string]struct {
		before  func(*fixture)
		verdict ownership.Decision
		err     error
		read    []types.UID // the owners, empty for the Pod itself
		did     []string
		state   claims.State // afterwards, by the table
		event   string
	}{
		"its owner lives":            {func(f *fixture) { f.add(pod(deleting)) }, alive, nil, []types.UID{"A"}, []string{"preserve sb_1", "seen"}, claims.Preserved, events.ReasonPreserved},
		"its owner is gone":          {func(f *fixture) { f.add(pod(deleting)) }, gone, nil, []types.UID{"A"}, []string{"destroy sb_1", "forget sb_1"}, claims.Bound, events.ReasonReleased},
		"and sandboxd is not sure":   {func(f *fixture) { f.add(pod(deleting)); f.unsure = true }, gone, nil, []types.UID{"A"}, []string{"destroy sb_1", "enqueue sb_1"}, claims.Bound, events.ReasonReleased},
		"and sandboxd fails":         {func(f *fixture) { f.add(pod(deleting)); f.destroyErr = failed }, gone, failed, []types.UID{"A"}, []string{"destroy sb_1"}, claims.Bound, ""},
		"and another claim has it":   {func(f *fixture) { f.add(pod(deleting)); f.share() }, gone, nil, []types.UID{"A"}, []string{"enqueue sb_1"}, claims.Quarantined, events.ReasonReleased},
		"it has another controller":  {func(f *fixture) { f.add(pod(deleting, controlledBy("B"))) }, alive, nil, []types.UID{"B"}, []string{"preserve sb_1", "seen"}, claims.Preserved, events.ReasonPreserved},
		"it has no controller":       {func(f *fixture) { f.add(pod(deleting, controlledBy(""))) }, alive, nil, []types.UID{""}, []string{"preserve sb_1", "seen"}, claims.Preserved, events.ReasonPreserved},
		"its deletion was seen":      {func(f *fixture) { f.gone(true) }, gone, nil, []types.UID{"A"}, []string{"destroy sb_1", "forget sb_1"}, claims.Bound, events.ReasonReleased},
		"its deletion was not seen":  {func(f *fixture) { f.gone(false) }, gone, nil, []types.UID{"A"}, []string{"schedule sb_1"}, claims.Bound, ""},
		"nobody saw it go":           {func(*fixture) {}, gone, nil, []types.UID{"A"}, []string{"schedule sb_1"}, claims.Bound, ""},
		"nobody saw it go, it lives": {func(*fixture) {}, alive, nil, []types.UID{"A"}, []string{"preserve sb_1"}, claims.Preserved, events.ReasonPreserved},
		"decided before": {func(f *fixture) {
			f.add(pod(deleting))
			_ = f.table.Preserve(key, "sb_1", pods.ControllerOf(pod()), time.Time{})
		}, gone, nil, nil, nil, claims.Preserved, ""},
		"the file fails": {func(f *fixture) {
			f.add(pod(deleting))
			f.fs.SetFault(func(faultfs.Op) error { return failed })
		}, alive, failed, []types.UID{"A"}, nil, claims.Preserved, ""},
		"a newer Pod of its name": {func(f *fixture) { f.pods.Track(fakes.NewPod("a", "P2", "A")) }, gone, nil, nil, nil, claims.Bound, ""},
		"another Pod's claim":     {func(f *fixture) { _ = f.table.Bind(key, "sb_1", claims.Holder{PodUID: "P2"}) }, gone, nil, nil, nil, claims.Bound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.claim()
				f.verdict = tc.verdict
				tc.before(f)
				// The object that virtual-kubelet hands over is older.
				if err := f.d.FinishDelete(t.Context(), pod()); !errors.Is(err, tc.err) {
					t.Errorf("err = %v, want %v", err, tc.err)
				}
				var read []types.UID
				for _, o := range f.read {
					if o == nil {
						o = &claims.Owner{}
					}
					read = append(read, o.UID)
				}
				if !slices.Equal(read, tc.read) || !slices.Equal(f.did, tc.did) {
					t.Errorf("read %v and did %v, want %v and %v", read, f.did, tc.read, tc.did)
				}
				if c, _ := f.d.table.Get(key); c.State != tc.state {
					t.Errorf("the claim is %s, want %s", c.State, tc.state)
				}
				if got := f.events.Of("Pod/a"); tc.event == "" && len(got) > 0 || tc.event != "" && !slices.Equal(got, []string{tc.event}) {
					t.Errorf("events %v, want %q", got, tc.event)
				}
			})
		})
	}
}

func TestWhenADeletionWasSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(*fixture)
		seen   bool
	}{
		"the Pod is being deleted":            {func(f *fixture) { f.add(pod(deleting)) }, true},
		"the watch showed that it is gone":    {func(f *fixture) { f.gone(true) }, true},
		"a list lacks it":                     {func(f *fixture) { f.gone(false) }, false},
		"it went while the daemon was away":   {func(*fixture) {}, false},
		"only virtual-kubelet says so":        {func(f *fixture) { f.add(pod()) }, false},
		"its name belongs to another Pod now": {func(f *fixture) { f.gone(false); f.add(fakes.NewPod("a", "P2", "A")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.claim()
				f.verdict = alive
				tc.before(f)
				if err := f.d.FinishDelete(t.Context(), pod(deleting)); err != nil {
					t.Fatal(err)
				}
				c, _ := f.table.Get(key)
				want := time.Time{}
				if tc.seen {
					want = time.Now()
				}
				if c.State != claims.Preserved || !c.PodDeletedAt.Equal(want) {
					t.Errorf("%s, its Pod was deleted at %v, want %v", c.State, c.PodDeletedAt, want)
				}
			})
		})
	}
}

// share loads a table in which another Pod's claim has the sandbox too.
func (f *fixture) share() {
	f.t.Helper()
	f.fs.Put("/state/claims.json", []byte(`{"claims":{
		"agents/a":{"id":"sb_1","token":"t","address":"h:1","podUID":"P1"},
		"agents/b":{"id":"sb_1","token":"u","address":"h:1","podUID":"P2"}}}`))
	table, err := claims.Open(claimfile.New(f.fs, "/state/claims.json"), time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	f.table, f.d.table = table, table
}

func TestATentativeClaimIsReturned(t *testing.T) {
	for name, failure := range map[string]error{"returned": nil, "not returned": errors.New("no answer")} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.fs.SetFault(func(faultfs.Op) error { return errors.New("no space left") })
				_ = f.table.Add(key, claims.Row{ID: "sb_1", PodUID: "P1"}, nil)
				f.add(pod(deleting))
				f.destroyErr = failure
				if err := f.d.FinishDelete(t.Context(), pod(deleting)); !errors.Is(err, failure) {
					t.Errorf("err = %v, want %v", err, failure)
				}
				if !slices.Equal(f.did, []string{"return sb_1"}) || len(f.read) > 0 || (f.removals == 0) != (failure != nil) {
					t.Errorf("did %v, read %v, %d removals", f.did, f.read, f.removals)
				}
			})
		})
	}
}

func TestWhatBecomesOfADeletedPod(t *testing.T) {
	ended := func(f *fixture) bool {
		tracked, ok := f.pods.Get(key)
		return ok && tracked.End != nil && tracked.End.Deleted && tracked.End.Reason == podstatus.ReasonDeleted
	}
	for name, tc := range map[string]struct {
		cached           *corev1.Pod
		removals         int
		ended, published bool
	}{
		"in the API":              {pod(deleting), 1, true, false},
		"kept by a finalizer":     {pod(deleting, lingering), 1, true, true},
		"gone":                    {nil, 0, false, false},
		"not deleted in the API":  {pod(), 0, false, false},
		"replaced by another Pod": {fakes.NewPod("a", "P2", "A"), 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.claim()
				f.pods.Track(pod())
				if tc.cached != nil {
					f.add(tc.cached)
				}
				f.verdict = alive
				for range 2 {
					if err := f.d.FinishDelete(t.Context(), pod(deleting)); err != nil {
						t.Fatal(err)
					}
				}
				if f.removals != tc.removals || ended(f) != tc.ended || slices.Contains(f.did, "publish "+key) != tc.published {
					t.Errorf("%d removals, ended %t, did %v", f.removals, ended(f), f.did)
				}
			})
		})
	}
}

func TestAnEndThatIsPublishedIsNotRepeated(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		f.claim()
		f.verdict = alive
		f.add(pod(deleting, lingering))
		if err := f.d.FinishDelete(t.Context(), pod(deleting)); err != nil {
			t.Fatal(err)
		}
		tracked, _ := f.pods.Get(key)
		status, id := statuses{f}.Status(tracked)
		f.add(pod(deleting, lingering, func(p *corev1.Pod) { p.Status, p.Annotations[podcontract.AnnotationClaimID] = status, id }))
		f.did = nil
		if err := f.d.FinishDelete(t.Context(), pod(deleting)); err != nil || len(f.did) > 0 {
			t.Errorf("did %v: %v", f.did, err)
		}
	})
}

func TestAFailedRemovalIsNoError(t *testing.T) {
	for name, failure := range map[string]error{
		"gone": apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a"), "no answer": errors.New("no answer"),
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.add(pod(deleting))
				f.removeErr = failure
				if err := f.d.FinishDelete(t.Context(), pod(deleting)); err != nil || f.removals != 1 {
					t.Errorf("%d removals: %v", f.removals, err)
				}
			})
		})
	}
}
