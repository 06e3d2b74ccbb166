// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

func TestCadence(t *testing.T) {
	for _, every := range []time.Duration{time.Second, interval, time.Hour} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.config.Interval = every
				h.start(t)
				fakeapi.Pass(min(publish.StartSpread, every))
				if len(h.Applies()) != 1 {
					t.Fatalf("%d applies soon after start, want one", len(h.Applies()))
				}
				fakeapi.Pass(100 * every)
				applied := h.Applies()
				fakeapi.CheckCadence(t, applied, every, every*11/10)
				if len(applied) < 91 {
					t.Errorf("%d applies in 100 intervals", len(applied))
				}
				last := applied[len(applied)-1].Truncate(time.Second)
				if stamp := h.stored(t).PublishedAt; !stamp.Time.Equal(last) {
					t.Errorf("publishedAt %v, want %v", stamp, last)
				}
			})
		})
	}
}

func TestEveryCycleStartsFromTheLiveState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.sandboxd.info.Pools = []sandboxd.Pool{{Key: sandboxd.Key{Template: template}, Warm: 2, Target: 2}}
		h.start(t)
		cycles(1)
		h.change(func() {
			h.sandboxd.rows = []sandboxd.Sandbox{{ID: "sb_b", ClaimRef: "default/next"}}
			h.sandboxd.info.Pools = nil
		})
		cycles(1)
		got := h.stored(t)
		if diff := cmp.Diff([]string{"default/next"}, names(got)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		if len(got.Pools) != 0 || *got.TotalWarm != 0 {
			t.Errorf("pools %v, %d warm after the pools were removed", got.Pools, *got.TotalWarm)
		}
		h.change(func() { h.sandboxd.rows = nil })
		cycles(1)
		got = h.stored(t)
		if len(got.Entries) != 0 || *got.TotalEntries != 0 {
			t.Errorf("%d entries of %d after an empty list", len(got.Entries), *got.TotalEntries)
		}
	})
}

func TestAFailureKeepsTheLastGoodCopy(t *testing.T) {
	down := errors.New("connection refused")
	tests := []struct {
		name         string
		break_, mend func(*harness)
		applies      bool
	}{
		{
			name:   "the list fails",
			break_: func(h *harness) { h.sandboxd.rows, h.sandboxd.listErr = nil, down },
			mend:   func(h *harness) { h.sandboxd.listErr = nil },
		},
		{
			name:   "the list fails halfway",
			break_: func(h *harness) { h.sandboxd.listErr = down },
			mend:   func(h *harness) { h.sandboxd.listErr = nil },
		},
		{
			name:   "the pools cannot be read",
			break_: func(h *harness) { h.sandboxd.infoErr = down },
			mend:   func(h *harness) { h.sandboxd.infoErr = nil },
		},
		{
			name:   "sandboxd hangs",
			break_: func(h *harness) { h.sandboxd.hang = true },
			mend:   func(h *harness) { h.sandboxd.hang = false },
		},
		{
			name:   "the Node cannot be read",
			break_: func(h *harness) { h.NodeErr = down },
			mend:   func(h *harness) { h.NodeErr = nil },
		},
		{
			name:   "there is no Node",
			break_: func(h *harness) { h.NodeErr = fakeapi.NoNode() },
			mend:   func(h *harness) { h.NodeErr = nil },
		},
		{
			name:    "the apply fails",
			break_:  func(h *harness) { h.ApplyErr = down },
			mend:    func(h *harness) { h.ApplyErr = nil },
			applies: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				cycles(1)
				good := h.stored(t)

				h.change(func() { tt.break_(h) })
				before := len(h.Applies())
				cycles(10)
				if diff := cmp.Diff(good, h.stored(t)); diff != "" {
					t.Errorf("the published object changed (-before +after):\n%s", diff)
				}
				if n := len(h.Applies()) - before; (n > 0) != tt.applies || n > 12 {
					t.Errorf("%d applies in 10 failing cycles", n)
				}

				h.change(func() { h.sandboxd.rows = []sandboxd.Sandbox{{ID: "sb_a", ClaimRef: "default/demo"}, {ID: "sb_b"}} })
				h.change(func() { tt.mend(h) })
				cycles(2)
				got := h.stored(t)
				if diff := cmp.Diff([]string{"default/demo", "sb_b"}, names(got)); diff != "" {
					t.Errorf("entries when all answer again (-want +got):\n%s", diff)
				}
				if !good.PublishedAt.Before(got.PublishedAt) {
					t.Errorf("publishedAt stayed %v", got.PublishedAt)
				}
			})
		})
	}
}

func TestStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.DefaultConfig)))
		ended := make(chan error)
		go func() { ended <- h.publisher(t).Run(ctx) }()
		cycles(2)
		applied := len(h.Applies())
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
		cycles(2)
		if len(h.Applies()) != applied {
			t.Errorf("%d applies after the end", len(h.Applies())-applied)
		}
		for _, action := range h.Client.Actions() {
			if action.GetVerb() != "patch" {
				t.Errorf("a %s of the inventory: an apply is all this package may do", action.GetVerb())
			}
		}
		if got := names(h.stored(t)); len(got) != 1 {
			t.Errorf("entries %v after the end: a restart must remove nothing", got)
		}
	})
}

// Each cycle is observed once, with how it ended, and one that a stop cuts
// short is not.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		var ends []bool
		h.config.Observe = func(err error) { ends = append(ends, err == nil) }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		p := h.publisher(t)
		go func() { ended <- p.Run(ctx) }()
		fakeapi.Pass(publish.StartSpread)
		h.change(func() { h.sandboxd.listErr = errors.New("sandboxd is away") })
		cycles(1)
		h.change(func() { h.sandboxd.listErr = nil; h.ApplyErr = errors.New("no API server") })
		cycles(1)
		h.change(func() { h.ApplyErr = nil })
		cycles(1)
		h.change(func() { h.sandboxd.hang = true })
		cycles(1)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]bool{true, false, false, true}, ends); diff != "" {
			t.Errorf("cycles that published (-want +got):\n%s", diff)
		}
	})
}
