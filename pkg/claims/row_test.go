// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// A time that RFC 3339 cannot express costs the time and never the row: not in
// memory, not in the file, not at the next start.
func TestTimesThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Time
		want time.Time
	}{
		{"an offset of 24 hours", start.In(time.FixedZone("", 24*60*60)), start},
		{"an offset with seconds", start.In(time.FixedZone("", 61)), start},
		{"the year 10000", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
		{"the year 10000 in UTC only", time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*60*60)), time.Time{}},
		{"the year -1", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			r := row("sb_1", "pod-1")
			r.Deadline = c.at
			if err := table.Add("default/a", r, nil); err != nil {
				t.Fatal(err)
			}
			if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
				t.Fatal(err)
			}
			for _, t2 := range []*claims.Table{table, open(t, fsys)} {
				all := t2.Releasing()
				if len(all) != 1 || !all[0].Deadline.Equal(c.want) || all[0].Token.Reveal() != "token-of-sb_1" {
					t.Errorf("releasing %+v, want sb_1 with the deadline %v", all, c.want)
				}
			}
		})
	}
}

func TestAdoptableBy(t *testing.T) {
	sandbox := func(uid types.UID) *claims.Owner { return &claims.Owner{Kind: "Sandbox", Name: "a", UID: uid} }
	owned := row("sb_1", "pod-1") // authority owner-1
	preserved := owned
	preserved.Owner = sandbox("owner-1")
	moved := preserved
	moved.Owner = sandbox("owner-2")
	bare := claims.NewRow(sandboxd.Claim{ID: "sb_1"}, claims.Holder{PodUID: "pod-1"}, start)
	old := owned
	old.Authority = ""
	handed := moved
	handed.PastPods = []types.UID{"pod-0"}
	for _, tc := range []struct {
		name   string
		row    claims.Row
		holder claims.Holder
		want   bool
	}{
		{"the pod that holds it, its owner changed", owned, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-9")}, true},
		{"a replacement of the same owner", owned, claims.Holder{PodUID: "pod-2", Controller: sandbox("owner-1")}, true},
		{"a pod of a recreated owner", owned, claims.Holder{PodUID: "pod-2", Controller: sandbox("owner-2")}, false},
		{"a bare pod on an owned claim", owned, claims.Holder{PodUID: "pod-2"}, false},
		{"preserved, same owner", preserved, claims.Holder{PodUID: "pod-2", Controller: sandbox("owner-1")}, true},
		{"preserved, the recorded owner counts, not the authority", moved, claims.Holder{PodUID: "pod-2", Controller: sandbox("owner-1")}, false},
		{"preserved, bare pod", preserved, claims.Holder{PodUID: "pod-2"}, false},
		{"bare claim, another bare pod", bare, claims.Holder{PodUID: "pod-2"}, false},
		{"bare claim, the same pod", bare, claims.Holder{PodUID: "pod-1"}, true},
		{"a pod that held it before, of an owner that had it before", handed, claims.Holder{PodUID: "pod-0", Controller: sandbox("owner-1")}, true},
		{"a table from an older build", old, claims.Holder{PodUID: "pod-2"}, true},
	} {
		if got := tc.row.AdoptableBy(tc.holder); got != tc.want {
			t.Errorf("%s: adoptable %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestHeldBy(t *testing.T) {
	sandbox := func(uid types.UID) *claims.Owner {
		return &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "a", UID: uid}
	}
	held := row("sb_1", "pod-1")
	preserved := held
	preserved.Owner = sandbox("owner-1")
	old := held
	old.Controller = nil
	random := held
	random.RandomName = true
	for name, tc := range map[string]struct {
		row                claims.Row
		holder             claims.Holder
		held, controlledAs bool
	}{
		"its Pod":                                {held, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-1")}, true, true},
		"another Pod of the owner":               {held, claims.Holder{PodUID: "pod-2", Controller: sandbox("owner-1")}, false, true},
		"its Pod, another owner":                 {held, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-2")}, false, false},
		"its Pod, no owner":                      {held, claims.Holder{PodUID: "pod-1"}, false, false},
		"its Pod, preserved":                     {preserved, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-1")}, false, true},
		"a name that was not known to be random": {held, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-1"), RandomName: true}, false, false},
		"a name that is random":                  {random, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-1"), RandomName: true}, true, true},
		"a row of an older build":                {old, claims.Holder{PodUID: "pod-1", Controller: sandbox("owner-1")}, false, false},
	} {
		if got := tc.row.HeldBy(tc.holder); got != tc.held {
			t.Errorf("%s: held %v", name, got)
		}
		if got := tc.row.ControlledAs(tc.holder); got != tc.controlledAs {
			t.Errorf("%s: controlled as it %v", name, got)
		}
	}
}

func TestLeaseEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		deadline, want time.Time
	}{
		"a deadline":                {start.Add(time.Hour), start.Add(time.Hour)},
		"a deadline after MaxLease": {start.Add(2 * claims.MaxLease), start.Add(2 * claims.MaxLease)},
		"no deadline":               {time.Time{}, start.Add(claims.MaxLease)},
	} {
		r := claims.Row{ClaimedAt: start, Deadline: tc.deadline}
		if got := r.LeaseEnd(); !got.Equal(tc.want) {
			t.Errorf("%s: the lease ends at %v, want %v", name, got, tc.want)
		}
		if r.Expired(tc.want.Add(-1)) || !r.Expired(tc.want) {
			t.Errorf("%s: not expired exactly from %v on", name, tc.want)
		}
	}
}

func TestPastPodsSurviveARestartAndAreBounded(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-0")
	for i := range 10 {
		if err := table.Bind("default/a", "sb_1", claims.Holder{PodUID: types.UID(fmt.Sprintf("pod-%d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	want := []types.UID{"pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6", "pod-7", "pod-8"}
	for _, t2 := range []*claims.Table{table, open(t, fsys)} {
		if c, _ := t2.Get("default/a"); c.PodUID != "pod-9" || !slices.Equal(c.PastPods, want) {
			t.Errorf("held by %s after %v, want pod-9 after %v", c.PodUID, c.PastPods, want)
		}
	}
}

func TestLeaseEnding(t *testing.T) {
	for name, tc := range map[string]struct {
		lease, movedAt time.Duration // from the claim
		ahead          time.Duration
		want           time.Duration // how long before its end the lease is warned of
	}{
		"a long lease":                {24 * time.Hour, 0, time.Hour, time.Hour},
		"a short lease":               {time.Hour, 0, time.Hour, 15 * time.Minute},
		"a short lease that moved":    {11 * time.Hour, 10 * time.Hour, time.Hour, 15 * time.Minute},
		"a lease that moved, lengths": {24 * time.Hour, 10 * time.Hour, time.Hour, time.Hour},
	} {
		r := claims.Row{ClaimedAt: start, Deadline: start.Add(tc.lease)}
		if tc.movedAt > 0 {
			r.LeaseMovedAt = start.Add(tc.movedAt)
		}
		if got := r.WarningTime(tc.ahead); got != tc.want {
			t.Errorf("%s: warned of %s ahead, want %s", name, got, tc.want)
		}
		for _, at := range []struct {
			left   time.Duration
			ending bool
		}{{tc.want + time.Second, false}, {tc.want, true}, {time.Second, true}, {0, false}, {-time.Second, false}} {
			if got := r.LeaseEnding(tc.ahead, r.Deadline.Add(-at.left)); got != at.ending {
				t.Errorf("%s: ending %s before its end: %t", name, at.left, got)
			}
		}
		if r.LeaseEnding(0, r.Deadline.Add(-time.Second)) {
			t.Errorf("%s: ending without a warning", name)
		}
	}
}
