// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const (
	ahead     = time.Hour
	passEvery = 10 * time.Second
)

// warned are the warnings of a fixture, as sandbox ids.
type warned struct {
	*fixture
	w    *LeaseWarnings
	ids  []string
	last time.Duration // ahead of the last one
}

// inWarnings runs a test with warnings.
func inWarnings(t *testing.T, test func(t *testing.T, f *warned)) {
	t.Helper()
	inFixture(t, func(t *testing.T, base *fixture) {
		f := &warned{fixture: base}
		f.start()
		test(t, f)
	})
}

// start begins to warn, as a start does.
func (f *warned) start() {
	f.w = NewLeaseWarnings(f.verifier(), ahead, func(c claims.Claim, ahead time.Duration) {
		f.ids, f.last = append(f.ids, c.ID), ahead
	})
}

// restart loads the table and lists the sandboxes.
func (f *warned) restart() {
	f.t.Helper()
	f.open()
	f.start()
	if err := f.verifier().CheckQuarantined(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// passes lets a span of time pass.
func (f *warned) passes(span time.Duration) {
	for ; span > 0; span -= passEvery {
		f.w.Pass(f.t.Context())
		time.Sleep(passEvery)
	}
}

func TestWhichLeasesAreWarnedOf(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(*warned)
		want   bool
	}{
		"a running Pod's": {func(*warned) {}, true},
		"one without a listed deadline": {func(f *warned) {
			s := f.node.Sandboxes["sb_1"]
			s.Deadline = time.Time{}
			f.node.Sandboxes["sb_1"] = s
		}, true},
		"one that is preserved":            {func(f *warned) { f.preserve("a") }, false},
		"one whose Pod vanished":           {func(f *warned) { f.withoutPod["sb_1"] = true }, false},
		"one whose Pod has ended":          {func(f *warned) { f.terminated["sb_1"] = true }, false},
		"one that sandboxd has not listed": {func(f *warned) { f.open(); f.start() }, false},
		"one that is not listed now":       {func(f *warned) { f.node.Lose("sb_1") }, false},
		"one that was extended unseen":     {func(f *warned) { f.move(); f.move() }, false},
		"one while sandboxd is away":       {func(f *warned) { f.node.ListErr = fakes.Unreachable() }, false},
		"one while the disk is full":       {func(f *warned) { f.fs.SetFault(func(faultfs.Op) error { return errNotSure }) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWarnings(t, func(t *testing.T, f *warned) {
				f.claim("a")
				time.Sleep(fakes.DefaultLease - ahead - time.Minute)
				tc.before(f)
				f.passes(time.Minute)
				if len(f.ids) > 0 {
					t.Fatalf("warned of %v too early", f.ids)
				}
				f.passes(10 * time.Minute)
				if warned := slices.Equal(f.ids, []string{"sb_1"}); warned != tc.want || !tc.want && len(f.ids) > 0 {
					t.Errorf("warned of %v", f.ids)
				}
			})
		})
	}
}

// preserve is the deletion of a Pod whose owner lives.
func (f *warned) preserve(name string) {
	f.t.Helper()
	c := f.read(name)
	if err := f.table.Preserve(c.Key, c.ID, &claims.Owner{Kind: "Sandbox", UID: "S"}, time.Now()); err != nil {
		f.t.Fatal(err)
	}
}

func TestWhenALeaseIsWarnedOf(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{ // how long before its end
		24 * time.Hour:  time.Hour,
		4 * time.Hour:   time.Hour,
		time.Hour:       15 * time.Minute,
		5 * time.Minute: 75 * time.Second,
		time.Minute:     15 * time.Second,
	} {
		t.Run(lease.String(), func(t *testing.T) {
			inWarnings(t, func(t *testing.T, f *warned) {
				f.node.Lease = lease
				c := f.claim("a")
				time.Sleep(lease - want - time.Second)
				f.w.Pass(t.Context())
				if len(f.ids) > 0 || f.w.Ending(f.read("a")) {
					t.Errorf("warned of %v too early", f.ids)
				}
				time.Sleep(time.Second)
				f.w.Pass(t.Context())
				if len(f.ids) != 1 || f.last != want || !f.w.Ending(f.read("a")) {
					t.Errorf("warned of %v, %s ahead", f.ids, f.last)
				}
				time.Sleep(time.Until(c.Deadline))
				if f.w.Pass(t.Context()); len(f.ids) != 1 || f.w.Ending(f.read("a")) {
					t.Errorf("warned of %v when the lease has ended", f.ids)
				}
			})
		})
	}
}

func TestEachEndIsWarnedOfOnce(t *testing.T) {
	inWarnings(t, func(t *testing.T, f *warned) {
		f.claim("a")
		time.Sleep(fakes.DefaultLease - ahead)
		f.passes(5 * time.Minute)
		f.restart()
		f.passes(5 * time.Minute)
		if len(f.ids) != 1 {
			t.Fatalf("warned of %v", f.ids)
		}
		f.move() // by an hour, from 50 minutes before the end
		f.passes(2 * time.Minute)
		if c := f.read("a"); f.w.Ending(c) || len(f.ids) != 1 {
			t.Errorf("warned of %v after the extension", f.ids)
		}
		f.restart()
		time.Sleep(time.Until(f.read("a").Deadline) - 20*time.Minute) // less than a quarter of the new lease
		f.passes(5 * time.Minute)
		if !slices.Equal(f.ids, []string{"sb_1", "sb_1"}) {
			t.Errorf("warned of %v, want the new end too", f.ids)
		}
	})
}

// A client that extends a short lease again and again is not warned.
func TestALeaseThatIsExtendedInTimeIsNotWarnedOf(t *testing.T) {
	inWarnings(t, func(t *testing.T, f *warned) {
		f.node.Lease = 5 * time.Minute
		f.claim("a")
		for range 120 {
			f.passes(time.Minute)
			s := f.node.Sandboxes["sb_1"]
			s.Deadline = time.Now().Add(5 * time.Minute)
			f.node.Sandboxes["sb_1"] = s
		}
		f.restart()
		f.passes(time.Minute)
		if len(f.ids) > 0 {
			t.Errorf("warned %d times", len(f.ids))
		}
	})
}

// The claims of one pool end together: the events, the writes and the log stay few.
func TestManyLeasesThatEndTogether(t *testing.T) {
	const many = 2*warnMost + 10
	inWarnings(t, func(t *testing.T, f *warned) {
		for i := range many {
			f.claim(fmt.Sprintf("p%d", i))
		}
		time.Sleep(fakes.DefaultLease - ahead)
		before := f.fs.Renames()
		for i, want := range []int{warnMost, 2 * warnMost, many, many} {
			f.w.Pass(t.Context())
			if len(f.ids) != want {
				t.Errorf("%d warnings after %d passes, want %d", len(f.ids), i+1, want)
			}
			if behind := i < 2; f.w.behind != behind {
				t.Errorf("behind after %d passes: %t", i+1, f.w.behind)
			}
			time.Sleep(passEvery)
		}
		if writes := f.fs.Renames() - before; writes != 3 {
			t.Errorf("%d writes", writes)
		}
		slices.Sort(f.ids)
		if len(slices.Compact(f.ids)) != many {
			t.Error("a claim was warned of twice")
		}
	})
}

// Within the time of the warning, leases are read again every minute, no more often.
func TestHowOftenLeasesThatEndAreRead(t *testing.T) {
	inWarnings(t, func(t *testing.T, f *warned) {
		f.claim("a")
		time.Sleep(fakes.DefaultLease - ahead)
		f.w.Pass(t.Context())
		for range 2 {
			listed := f.index.LastListed()
			time.Sleep(endingReread - time.Second)
			if f.w.Pass(t.Context()); !f.index.LastListed().Equal(listed) {
				t.Error("read again within a minute")
			}
			time.Sleep(time.Second)
			if f.w.Pass(t.Context()); !f.index.LastListed().Equal(time.Now()) {
				t.Error("not read again after a minute")
			}
		}
	})
}

func TestNoWarnings(t *testing.T) {
	inWarnings(t, func(t *testing.T, f *warned) {
		f.claim("a")
		w := NewLeaseWarnings(f.verifier(), 0, func(claims.Claim, time.Duration) { t.Error("warned") })
		time.Sleep(fakes.DefaultLease - time.Second)
		if w.Pass(t.Context()); !f.index.LastListed().IsZero() || w.Ending(f.read("a")) {
			t.Error("the lease was read")
		}
	})
}
