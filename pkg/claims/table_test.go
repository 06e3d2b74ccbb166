// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

var errDiskFull = errors.New("no space left on device")

var start = time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)

func open(t *testing.T, fsys claimfile.FS) *claims.Table {
	t.Helper()
	return fakes.OpenTableAt(t, fsys, start)
}

func row(id string, pod types.UID) claims.Row { return fakes.NewRow(id, pod, start) }

func mustAdd(t *testing.T, table *claims.Table, key, id string, pod types.UID) {
	t.Helper()
	if err := table.Add(key, row(id, pod), nil); err != nil {
		t.Fatalf("add %s: %v", key, err)
	}
}

func state(t *testing.T, table *claims.Table, key string) claims.State {
	t.Helper()
	c, ok := table.Get(key)
	if !ok {
		return ""
	}
	return c.State
}

// tokens is every credential the table holds, by sandbox id.
func tokens(table *claims.Table) map[string]string {
	out := map[string]string{}
	for _, c := range append(table.List(), table.Releasing()...) {
		out[c.ID] = c.Token.Reveal()
	}
	return out
}

func TestReloadKeepsEveryCredential(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	mustAdd(t, table, "default/b", "sb_2", "pod-2")
	if err := table.EnqueueRelease("default/b", "sb_2"); err != nil {
		t.Fatal(err)
	}
	if err := table.Preserve("default/a", "sb_1", &claims.Owner{Kind: "Sandbox", Name: "a", UID: "owner-1"}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	fsys.Crash()
	fsys.Reboot(nil)

	again := open(t, fsys)
	if diff := cmp.Diff(tokens(table), tokens(again)); diff != "" {
		t.Errorf("credentials after a reload (-before +after):\n%s", diff)
	}
	if got := state(t, again, "default/a"); got != claims.Quarantined {
		t.Errorf("a reloaded claim is %q, want quarantined until the node lists it", got)
	}
	if r := again.Releasing(); len(r) != 1 || r[0].Key != "default/b" || r[0].ID != "sb_2" {
		t.Errorf("releasing after a reload: %+v", r)
	}
	if err := again.ConfirmListed([]claims.Listed{{ID: "sb_1", Deadline: start.Add(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	c, _ := again.Get("default/a")
	if c.State != claims.Preserved || !c.Deadline.Equal(start.Add(time.Hour)) || c.Owner.UID != "owner-1" {
		t.Errorf("after ConfirmListed: state %q, deadline %v, owner %+v", c.State, c.Deadline, c.Owner)
	}
}

// TestFailedWrite checks, for each step of a write, that a failure loses
// nothing that was there, counts nothing that was not, and recovers.
func TestFailedWrite(t *testing.T) {
	for _, op := range faultfs.Ops {
		t.Run(string(op), func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			mustAdd(t, table, "default/a", "sb_1", "pod-1")
			fsys.SetFault(func(at faultfs.Op) error {
				if at == op {
					return errDiskFull
				}
				return nil
			})
			for i := range 100 {
				if err := table.Add(fmt.Sprintf("default/n%d", i), row(fmt.Sprintf("sb_n%d", i), "p"), nil); !errors.Is(err, errDiskFull) {
					t.Fatalf("add with a failing %s: %v, want the disk's error", op, err)
				}
			}
			if got := state(t, table, "default/n0"); got != claims.Tentative {
				t.Errorf("a claim whose write failed is %q, want tentative", got)
			}
			if names := fsys.Names(); len(names) > 2 {
				t.Errorf("100 failed writes left %d files: %v", len(names), names)
			}
			for i := range 100 {
				key := fmt.Sprintf("default/n%d", i)
				if err := table.Forget(key, fmt.Sprintf("sb_n%d", i)); !errors.Is(err, errDiskFull) {
					t.Fatalf("forget with a failing %s: %v", op, err)
				}
			}
			fsys.SetFault(nil)
			if err := table.Flush(); err != nil {
				t.Fatalf("flush once the disk works: %v", err)
			}
			fsys.Crash()
			fsys.Reboot(nil)
			if got := tokens(open(t, fsys)); len(got) != 1 || got["sb_1"] != "token-of-sb_1" {
				t.Errorf("after recovery and a crash the file has %v, want sb_1 alone", got)
			}
		})
	}
}

// TestCrashAtEveryStep crashes the machine at each step of the write of a
// second claim: the file is then the old table or the new one, and never less.
// When Add said that the claim counts, it is the new one.
func TestCrashAtEveryStep(t *testing.T) {
	for _, op := range faultfs.Ops {
		t.Run(string(op), func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			mustAdd(t, table, "default/a", "sb_1", "pod-1")
			fsys.SetFault(func(at faultfs.Op) error {
				if at == op {
					return faultfs.ErrCrashed
				}
				return nil
			})
			if err := table.Add("default/b", row("sb_2", "pod-2"), nil); err == nil {
				t.Fatal("the claim counts although the machine crashed before its write was durable")
			}
			fsys.Reboot(nil)
			if got := tokens(open(t, fsys)); got["sb_1"] != "token-of-sb_1" {
				t.Errorf("after a crash at %s the file has %v; sb_1's credential is lost", op, got)
			}
		})
	}
	t.Run("after the write", func(t *testing.T) {
		fsys := faultfs.New()
		table := open(t, fsys)
		mustAdd(t, table, "default/b", "sb_2", "pod-2")
		fsys.Crash()
		fsys.Reboot(nil)
		if got := tokens(open(t, fsys)); got["sb_2"] == "" {
			t.Error("a claim that counted did not survive a crash")
		}
	})
}

// TestGroupCommit holds the disk at one write while many claims arrive: they
// share the next one.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		table := open(t, fsys)
		before := fsys.Renames()

		proceed := make(chan struct{})
		var first sync.Once
		fsys.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpCreate {
				first.Do(func() { <-proceed })
			}
			return nil
		})
		add := func(i int) {
			if err := table.Add(fmt.Sprintf("default/p%d", i), row(fmt.Sprintf("sb_%d", i), "p"), nil); err != nil {
				t.Errorf("add %d: %v", i, err)
			}
		}
		go add(0)
		synctest.Wait()
		for i := 1; i <= 50; i++ {
			go add(i)
		}
		synctest.Wait()
		// The table answers while the disk does not: its lock is free.
		for _, c := range table.List() {
			if c.State != claims.Tentative {
				t.Errorf("the claim of %s is %q before its write has landed", c.Key, c.State)
			}
		}
		close(proceed)
		synctest.Wait()
		if writes := fsys.Renames() - before; writes != 2 {
			t.Errorf("51 claims took %d writes, want 2: the first, and one for all that arrived meanwhile", writes)
		}
		if got := len(tokens(open(t, fsys))); got != 51 {
			t.Errorf("the file has %d claims, want 51", got)
		}
	})
}

func TestOvertakenTransitionsChangeNothing(t *testing.T) {
	table := open(t, faultfs.New())
	mustAdd(t, table, "default/a", "sb_2", "pod-2")
	for name, transition := range map[string]func() error{
		"bind":           func() error { return table.Bind("default/a", "sb_1", claims.Holder{PodUID: "pod-9"}) },
		"preserve":       func() error { return table.Preserve("default/a", "sb_1", nil, start) },
		"enqueueRelease": func() error { return table.EnqueueRelease("default/a", "sb_1") },
		"forget":         func() error { return table.Forget("default/a", "sb_1") },
	} {
		if err := transition(); !errors.Is(err, claims.ErrNotFound) {
			t.Errorf("%s of a claim that the key no longer has: %v, want ErrNotFound", name, err)
		}
	}
	c, _ := table.Get("default/a")
	if c.ID != "sb_2" || c.PodUID != "pod-2" || c.State != claims.Bound || len(table.Releasing()) != 0 {
		t.Errorf("the claim changed: %+v, releasing %d", c, len(table.Releasing()))
	}
}

// A claim that cannot take its key keeps its credential, and leaves the claim that
// is in the way as it is. The file can be read again.
func TestClaimWithoutAKeyKeepsItsCredential(t *testing.T) {
	for name, c := range map[string]struct {
		key       string
		row       claims.Row
		displaced *claims.Claim
	}{
		"the key is taken":                   {key: "default/a", row: row("sb_4", "pod-4")},
		"the displaced claim was overtaken":  {key: "default/a", row: row("sb_4", "pod-4"), displaced: &claims.Claim{Key: "default/a", Row: row("sb_1", "pod-1")}},
		"another key has the sandbox":        {key: "default/b", row: row("sb_2", "pod-4")},
		"the key has the sandbox":            {key: "default/a", row: row("sb_2", "pod-4")},
		"the displaced claim is the sandbox": {key: "default/a", row: row("sb_2", "pod-4"), displaced: &claims.Claim{Key: "default/a", Row: row("sb_2", "pod-2")}},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			mustAdd(t, table, "default/a", "sb_2", "pod-2")
			c.row.Token = sandboxd.NewToken("second")
			if err := table.Add(c.key, c.row, c.displaced); !errors.Is(err, claims.ErrOtherClaim) {
				t.Errorf("error %v, want ErrOtherClaim", err)
			}
			for range 2 {
				held, _ := table.Get("default/a")
				if held.ID != "sb_2" || held.PodUID != "pod-2" || held.Token.Reveal() == "second" {
					t.Errorf("the claim in the way changed: %+v", held)
				}
				releasing := table.Releasing()
				if len(releasing) != 1 || releasing[0].ID != c.row.ID || releasing[0].Token.Reveal() != "second" {
					t.Errorf("releasing %+v, want the new claim with its token", releasing)
				}
				if _, taken := table.Get("default/b"); taken {
					t.Error("two keys have one sandbox")
				}
				table = open(t, fsys) // as the next start reads it
			}
		})
	}
}

func TestDisplacedClaimIsReleasedInTheSameWrite(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	old, _ := table.Get("default/a")
	before := fsys.Renames()
	if err := table.Add("default/a", row("sb_2", "pod-2"), &old); err != nil {
		t.Fatal(err)
	}
	if writes := fsys.Renames() - before; writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
	again := open(t, fsys)
	if c, _ := again.Get("default/a"); c.ID != "sb_2" {
		t.Errorf("the key has %q, want sb_2", c.ID)
	}
	if r := again.Releasing(); len(r) != 1 || r[0].ID != "sb_1" || r[0].Token.Reveal() != "token-of-sb_1" {
		t.Errorf("releasing: %d entries, want sb_1 with its token", len(r))
	}
}

func TestConfirmListedWritesOnlyWhatChanged(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	before := fsys.Renames()
	same := []claims.Listed{{ID: "sb_1", Deadline: start.Add(24 * time.Hour)}, {ID: "sb_elsewhere", Deadline: start}}
	if err := table.ConfirmListed(same); err != nil {
		t.Fatal(err)
	}
	if err := table.ConfirmListed([]claims.Listed{{ID: "sb_1"}}); err != nil {
		t.Fatal(err)
	}
	if writes := fsys.Renames() - before; writes != 0 {
		t.Errorf("a listing that says nothing new took %d writes", writes)
	}
	if c, _ := table.Get("default/a"); !c.Deadline.Equal(start.Add(24 * time.Hour)) {
		t.Errorf("a listing without a deadline moved the lease to %v", c.Deadline)
	}
}

// A holder counts once the file names it, whatever else of the row has yet to be
// written, and one that cannot be written does not become the holder.
func TestDurableHolder(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	owner := &claims.Owner{Kind: "Sandbox", Name: "s", UID: "owner-1"}
	if err := table.Preserve("default/a", "sb_1", owner, time.Time{}); err != nil {
		t.Fatal(err)
	}
	get := func() claims.Claim {
		c, _ := table.Get("default/a")
		return c
	}
	moved := start.Add(time.Hour)
	fsys.SetFault(func(faultfs.Op) error { return errDiskFull })
	if err := table.ConfirmListed([]claims.Listed{{ID: "sb_1", Deadline: moved}}); err == nil || !get().Durable {
		t.Errorf("a lease that was not written (%v) puts the holder in doubt", err)
	}
	err := table.Bind("default/a", "sb_1", claims.Holder{PodUID: "pod-2", Controller: owner})
	if c := get(); err == nil || c.PodUID != "pod-1" || c.State != claims.Preserved || !claims.SameOwner(c.Owner, owner) || !c.Deadline.Equal(moved) {
		t.Errorf("after a new holder that was not written (%v): %s of %s for %v until %v", err, c.State, c.PodUID, c.Owner, c.Deadline)
	}
	fsys.SetFault(nil)
	if err := table.Flush(); err != nil || !get().Durable {
		t.Errorf("once the file has it (%v) the holder is not durable", err)
	}
	if c, _ := open(t, fsys).Get("default/a"); c.PodUID != "pod-1" {
		t.Errorf("the file names %s", c.PodUID)
	}
}

// A sandbox that is to be given back must not come out of a restart as a claim
// of its key because a listing has moved its lease.
func TestConfirmListedLeavesATentativeClaim(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	fsys.SetFault(func(faultfs.Op) error { return errDiskFull })
	if err := table.Add("default/a", row("sb_1", "pod-1"), nil); err == nil {
		t.Fatal("the write was to fail")
	}
	fsys.SetFault(nil)
	if err := table.ConfirmListed([]claims.Listed{{ID: "sb_1", Deadline: start.Add(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	again := open(t, fsys)
	if _, held := again.Get("default/a"); held || len(again.Releasing()) != 1 {
		t.Errorf("after a restart the key holds the claim: %v, releasing %d; want it to be released", held, len(again.Releasing()))
	}
}

// Select returns what List would, in its order, with the same marks.
func TestSelect(t *testing.T) {
	table := open(t, faultfs.New())
	for _, name := range []string{"c", "a", "b"} {
		mustAdd(t, table, "default/"+name, "sb_"+name, "pod")
	}
	if err := table.EnqueueRelease("default/b", "sb_b"); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range table.Select(func(c claims.Claim) bool { return c.Durable && c.State == claims.Bound }) {
		keys = append(keys, c.Key)
	}
	if diff := cmp.Diff([]string{"default/a", "default/c"}, keys); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
	if none := table.Select(func(c claims.Claim) bool { return c.ID == "sb_b" }); len(none) != 0 {
		t.Errorf("a claim without its key was selected: %+v", none)
	}
}

// A changed controller is recorded durably, and nothing else of the claim changes.
func TestFollow(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	now := &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "other", UID: "owner-2"}
	for _, h := range []claims.Holder{{PodUID: "pod-1", Controller: now}, {PodUID: "pod-1"}} {
		want, _ := table.Get("default/a")
		want.Controller, want.Authority = h.Controller, "pod-1"
		if h.Controller != nil {
			want.Authority = h.Controller.UID
		}
		if err := table.Follow("default/a", "sb_1", h); err != nil {
			t.Fatal(err)
		}
		got, _ := table.Get("default/a")
		sameToken := cmp.Comparer(func(a, b sandboxd.Token) bool { return a.Reveal() == b.Reveal() })
		if diff := cmp.Diff(want, got, sameToken); diff != "" {
			t.Errorf("claim (-want +got):\n%s", diff)
		}
		if stored, _ := open(t, fsys).Get("default/a"); !stored.ControlledAs(h) {
			t.Errorf("the file names the controller %+v", stored.Controller)
		}
	}
}

// What is known of a Pod that is gone survives a restart, and ends with an adoption.
func TestUnadoptable(t *testing.T) {
	replicaSet := &claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "owner-1"}
	deleted := start.Add(time.Minute)
	for name, tc := range map[string]struct {
		owner *claims.Owner
		act   func(table *claims.Table) error
		want  bool
	}{
		"its Pod lives": {replicaSet, func(*claims.Table) error { return nil }, false},
		"its Pod is gone": {replicaSet, func(table *claims.Table) error {
			return table.Preserve("default/a", "sb_1", replicaSet, deleted)
		}, true},
		"it is adopted": {replicaSet, func(table *claims.Table) error {
			return errors.Join(
				table.Preserve("default/a", "sb_1", replicaSet, deleted),
				table.Bind("default/a", "sb_1", claims.Holder{PodUID: "pod-2", Controller: replicaSet, RandomName: true}),
			)
		}, false},
		"it was adopted before": {replicaSet, func(table *claims.Table) error {
			return errors.Join(
				table.Bind("default/a", "sb_1", claims.Holder{PodUID: "pod-2", Controller: replicaSet, RandomName: true}),
				table.Preserve("default/a", "sb_1", replicaSet, deleted),
			)
		}, false},
		"its Pod was restored": {replicaSet, func(table *claims.Table) error {
			return errors.Join(
				table.Preserve("default/a", "sb_1", replicaSet, deleted.Add(-time.Hour)),
				table.Bind("default/a", "sb_1", claims.Holder{PodUID: "pod-1", Controller: replicaSet, RandomName: true}),
				table.Preserve("default/a", "sb_1", replicaSet, deleted),
			)
		}, true},
		"its Pod had another controller last": {replicaSet, func(table *claims.Table) error {
			other := &claims.Owner{Kind: "Sandbox", UID: "owner-2"}
			return errors.Join(
				table.Follow("default/a", "sb_1", claims.Holder{PodUID: "pod-1", Controller: other}),
				table.Preserve("default/a", "sb_1", other, deleted),
			)
		}, false},
		"its Pod was bare": {nil, func(table *claims.Table) error { return table.Preserve("default/a", "sb_1", nil, deleted) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			r := claims.NewRow(sandboxd.Claim{ID: "sb_1", Token: sandboxd.NewToken("t")}, claims.Holder{PodUID: "pod-1", Controller: tc.owner, RandomName: true}, start)
			if err := errors.Join(table.Add("default/a", r, nil), tc.act(table)); err != nil {
				t.Fatal(err)
			}
			again := open(t, fsys)
			if c, _ := again.Get("default/a"); c.Unadoptable() {
				t.Error("a quarantined claim is unadoptable")
			}
			if err := again.ConfirmListed([]claims.Listed{{ID: "sb_1"}}); err != nil {
				t.Fatal(err)
			}
			for _, table := range []*claims.Table{table, again} {
				c, _ := table.Get("default/a")
				if c.Unadoptable() != tc.want {
					t.Errorf("%s, unadoptable %t", c.State, c.Unadoptable())
				}
				if gone := c.Owner != nil; gone && !c.PodDeletedAt.Equal(deleted) || c.State == claims.Bound && c.Controller != nil && !c.PodDeletedAt.IsZero() {
					t.Errorf("%s, its Pod was deleted at %v", c.State, c.PodDeletedAt)
				}
			}
		})
	}
}

// Which ends of leases were warned of survives a restart.
func TestMarkWarned(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	mustAdd(t, table, "default/b", "sb_2", "pod-2")
	both := table.List()
	if err := table.Forget("default/b", "sb_2"); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, table, "default/b", "sb_3", "pod-2")
	renames := fsys.Renames()
	if err := table.MarkWarned(both); err != nil || fsys.Renames() != renames+1 {
		t.Errorf("%d writes: %v", fsys.Renames()-renames, err)
	}
	for _, table := range []*claims.Table{table, open(t, fsys)} {
		a, _ := table.Get("default/a")
		b, _ := table.Get("default/b")
		if !a.WarnedOf.Equal(a.LeaseEnd()) || !b.WarnedOf.IsZero() {
			t.Errorf("warned of %v, and of %v for another claim", a.WarnedOf, b.WarnedOf)
		}
	}
}

// A lease that sandboxd lists with another end has moved.
func TestWhenALeaseMoved(t *testing.T) {
	end := start.Add(24 * time.Hour)
	for name, tc := range map[string]struct {
		before, listed time.Time
		moved          bool
	}{
		"another end":  {end, end.Add(time.Hour), true},
		"the same end": {end, end, false},
		"the first":    {time.Time{}, end, false},
		"none":         {end, time.Time{}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			r := row("sb_1", "pod-1")
			r.Deadline = tc.before
			if err := errors.Join(table.Add("default/a", r, nil), table.ConfirmListed([]claims.Listed{{ID: "sb_1", Deadline: tc.listed}})); err != nil {
				t.Fatal(err)
			}
			for _, table := range []*claims.Table{table, open(t, fsys)} {
				c, _ := table.Get("default/a")
				var want time.Time
				if tc.moved {
					want = time.Now()
				}
				if !c.LeaseMovedAt.Equal(want) {
					t.Errorf("%s: moved at %v, want %v", name, c.LeaseMovedAt, want)
				}
			}
		})
	}
}
