// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// fixture is an index over a real table. Its claims are those of the Pods a, b, ...; the
// first sandbox is sb_1.
type fixture struct {
	t     *testing.T
	fs    *faultfs.FS
	node  *fakes.Sandboxd
	table *claims.Table
	index *Index
	// ended, withoutPod and terminated are about claims, by sandbox id.
	ended, withoutPod, terminated map[string]bool
	gone                          []string // the sandboxes that were reported
}

func (f *fixture) HasNoPod(c claims.Claim) bool         { return f.withoutPod[c.ID] }
func (f *fixture) HolderTerminated(c claims.Claim) bool { return f.terminated[c.ID] }

func inFixture(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, fs: faultfs.New(), node: fakes.NewSandboxd(), ended: map[string]bool{}, withoutPod: map[string]bool{}, terminated: map[string]bool{}}
		f.open()
		test(t, f)
	})
}

// open loads the table, as a start does.
func (f *fixture) open() {
	f.t.Helper()
	f.table = fakes.OpenTable(f.t, f.fs)
	f.index = NewIndex(f.node, f.table, func(c claims.Claim) bool { return f.ended[c.ID] })
}

func (f *fixture) verifier() *Verifier {
	return NewVerifier(f.index, f.table, f, func(_ context.Context, c claims.Claim) { f.gone = append(f.gone, c.ID) })
}

// claim is a new claim of the Pod.
func (f *fixture) claim(name string) claims.Claim {
	f.t.Helper()
	key := fakes.Namespace + "/" + name
	got, err := f.node.Claim(f.t.Context(), sandboxd.ClaimRequest{ClaimRef: key})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.table.Add(key, claims.NewRow(got, claims.Holder{PodUID: "P"}, time.Now()), nil); err != nil {
		f.t.Fatal(err)
	}
	return f.read(name)
}

func (f *fixture) read(name string) claims.Claim {
	c, _ := f.table.Get(fakes.Namespace + "/" + name)
	return c
}

func TestWhatConfirmsThatASandboxIsGone(t *testing.T) {
	lose := func(f *fixture) { f.node.Lose("sb_1") }
	expire := func(*fixture) { time.Sleep(fakes.DefaultLease) }
	type answer struct {
		gone, unsure, fails bool
	}
	for name, tc := range map[string]struct {
		before func(*fixture)
		want   answer
	}{
		"it is listed":                       {func(*fixture) {}, answer{}},
		"it is missing just now":             {lose, answer{unsure: true}},
		"the index is being rebuilt":         {func(f *fixture) { f.node.Rebuilding = true }, answer{unsure: true}},
		"no list":                            {func(f *fixture) { lose(f); f.node.ListErr = fakes.Failing("list") }, answer{fails: true}},
		"no single read":                     {func(f *fixture) { lose(f); f.node.GetErr["sb_1"] = fakes.Failing("get") }, answer{fails: true}},
		"its lease ended":                    {expire, answer{gone: true}},
		"its lease ended, no list lately":    {func(f *fixture) { f.failList(fakes.Failing("list")); f.drop("sb_1") }, answer{unsure: true}},
		"its lease ended, another is listed": {func(f *fixture) { f.failList(fakes.Failing("list")); f.claim("b"); f.drop("sb_1") }, answer{gone: true}},
		"its lease ended, sandboxd was away": {func(f *fixture) { f.failList(fakes.Unreachable()); f.claim("b"); f.drop("sb_1") }, answer{unsure: true}},
		"its lease ended, another is not listed": {func(f *fixture) {
			expire(f)
			f.claim("b")
			f.node.Lose("sb_2")
		}, answer{unsure: true}},
		"its lease ended, another ended before": {func(f *fixture) {
			expire(f)
			f.claim("b")
			f.node.Lose("sb_2")
			f.ended["sb_2"] = true
		}, answer{gone: true}},
		"its lease ended, it was missing before": {func(f *fixture) {
			time.Sleep(fakes.DefaultLease - time.Minute)
			lose(f)
			_, _ = f.index.ConfirmGone(f.t.Context(), f.read("a"))
			time.Sleep(time.Minute)
		}, answer{unsure: true}},
		"its lease ended, and it was loaded": {func(f *fixture) { expire(f); f.open() }, answer{unsure: true}},
		"missing for long": {func(f *fixture) {
			lose(f)
			f.ask(5)
		}, answer{gone: true}},
		"missing, and not asked for long": {func(f *fixture) {
			lose(f)
			f.ask(1)
			time.Sleep(goneAfter)
		}, answer{unsure: true}},
		"missing, and seen again": {func(f *fixture) {
			f.node.Rebuilding = true
			f.ask(4)
			f.node.Rebuilding = false
			f.ask(1)
			lose(f)
		}, answer{unsure: true}},
		"missing, and sandboxd was away": {func(f *fixture) {
			lose(f)
			f.ask(4)
			f.failList(fakes.Unreachable())
			f.ask(1)
		}, answer{unsure: true}},
		"gone once": {func(f *fixture) {
			lose(f)
			f.ask(6)
			f.failList(fakes.Unreachable())
			time.Sleep(time.Hour)
		}, answer{gone: true}},
		"gone once, and forgotten": {func(f *fixture) {
			lose(f)
			f.ask(6)
			f.index.Forget("sb_1")
		}, answer{unsure: true}},
		"gone once, and claimed by nobody": {func(f *fixture) {
			lose(f)
			f.ask(6)
			time.Sleep(time.Hour)
			f.index.Prune(time.Now(), nil)
		}, answer{unsure: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.claim("a")
				tc.before(f)
				gone, err := f.index.ConfirmGone(t.Context(), f.read("a"))
				if got := (answer{gone, NotSure(err), err != nil && !NotSure(err)}); got != tc.want {
					t.Errorf("answer %+v (%v), want %+v", got, err, tc.want)
				}
			})
		})
	}
}

// ask asks for the first sandbox once a minute.
func (f *fixture) ask(times int) {
	for range times {
		_, _ = f.index.ConfirmGone(f.t.Context(), f.read("a"))
		time.Sleep(time.Minute)
	}
}

// failList fails one list.
func (f *fixture) failList(err error) {
	f.node.ListErr = err
	_, _ = f.index.List(f.t.Context())
	f.node.ListErr = nil
}

// drop ends a sandbox whose lease then has just ended by the table too.
func (f *fixture) drop(id string) {
	f.t.Helper()
	f.node.Lose(id)
	time.Sleep(time.Second)
	if err := f.table.ConfirmListed([]claims.Listed{{ID: id, Deadline: time.Now()}}); err != nil {
		f.t.Fatal(err)
	}
}

func TestWhenARowIsExpendable(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a")
		if f.index.RowExpendable(c, time.Now()) {
			t.Error("expendable while its lease runs")
		}
		time.Sleep(fakes.DefaultLease + rowMargin + time.Second)
		for passed := time.Duration(0); passed < goneAfter; passed += time.Minute {
			if f.index.RowExpendable(c, time.Now()) {
				t.Errorf("expendable when missing for %v", passed)
			}
			time.Sleep(time.Minute)
		}
		if !f.index.RowExpendable(c, time.Now()) {
			t.Errorf("not expendable when missing for %v", goneAfter)
		}
	})
}

func TestWhenTheIndexWasListed(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		f.failList(fakes.Failing("list"))
		if got := f.index.LastListed(); !got.IsZero() {
			t.Errorf("listed at %v, want never", got)
		}
		f.claim("a")
		if l, err := f.index.List(t.Context()); err != nil || len(l) != 1 || !f.index.LastListed().Equal(time.Now()) {
			t.Errorf("listed %v at %v: %v", l, f.index.LastListed(), err)
		}
	})
}

// A daemon that starts knows nothing of what sandboxd failed at before. A claim that was
// on its way out already is not believed to be gone because its lease has ended and the
// index of a sandboxd that restarted too lacks it.
func TestALeaseEndAfterAStartProvesNothingBeforeAListing(t *testing.T) {
	for name, listed := range map[string]bool{"never listed": false, "listed once": true} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				c := f.claim("a")
				if err := f.table.EnqueueRelease(c.Key, c.ID); err != nil {
					t.Fatal(err)
				}
				f.open()
				if listed {
					if _, err := f.index.List(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Until(c.Deadline) + time.Second)
				f.node.Lose(c.ID)
				gone := func() bool {
					t.Helper()
					gone, err := f.index.ConfirmGone(t.Context(), f.table.Releasing()[0])
					if err != nil && !NotSure(err) {
						t.Fatal(err)
					}
					return gone
				}
				if got := gone(); got != listed {
					t.Errorf("gone after the first observation: %v, want %v", got, listed)
				}
				for range 5 {
					time.Sleep(time.Minute)
					listed = gone()
				}
				if !listed {
					t.Error("not gone after 5 minutes")
				}
			})
		})
	}
}

func TestAFindingCountsInTwoPasses(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		scan := NewOrphanScan(f.index)
		f.claim("a")
		f.node.Lose("sb_1")
		f.node.Sandboxes["sb_x"] = sandboxd.Sandbox{ID: "sb_x"}
		pass := func(want map[Finding]int) {
			t.Helper()
			scan.Pass(t.Context())
			if diff := cmp.Diff(want, scan.Audit().Counts); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		}
		pass(map[Finding]int{})
		pass(map[Finding]int{Stale: 1, Orphan: 1})
		f.node.ListErr = fakes.Failing("list")
		pass(map[Finding]int{Stale: 1, Orphan: 1})
		f.node.ListErr = nil
		f.node.Lose("sb_x")
		pass(map[Finding]int{Stale: 1})
		if got := len(f.index.Claims()); got != 1 || len(f.node.Destroyed()) > 0 {
			t.Errorf("%d claims, destroyed %v", got, f.node.Destroyed())
		}
		for _, finding := range Findings() {
			if finding.text() == "" {
				t.Errorf("%s has no text", finding)
			}
		}
	})
}
