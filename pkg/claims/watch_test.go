// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		table := open(t, fsys)
		opened := time.Now()
		if w := table.Writes(); !w.Last.Equal(opened) || w.Err != nil {
			t.Errorf("after opening: %+v, want a write just now", w)
		}
		time.Sleep(time.Minute)
		full := errors.New("disk full")
		fsys.SetFault(func(faultfs.Op) error { return full })
		if err := table.Add("default/a", row("sb_1", "pod-1"), nil); err == nil {
			t.Fatal("the write did not fail")
		}
		if w := table.Writes(); !w.Last.Equal(opened) || !errors.Is(w.Err, full) {
			t.Errorf("after a failure: %+v", w)
		}
		fsys.SetFault(nil)
		time.Sleep(time.Minute)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		if w := table.Writes(); !w.Last.Equal(time.Now()) || w.Err != nil {
			t.Errorf("after the repair: %+v", w)
		}
	})
}

func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		signalled := func(table *claims.Table) bool {
			synctest.Wait()
			select {
			case <-table.Changes():
				return true
			default:
				return false
			}
		}
		table := open(t, fsys)
		signalled(table)
		if signalled(table) {
			t.Error("signalled while nothing changes")
		}
		mustAdd(t, table, "default/a", "sb_1", "pod-1")
		mustAdd(t, table, "default/b", "sb_2", "pod-2")
		if !signalled(table) || signalled(table) {
			t.Error("two claims are not one value")
		}
		fsys.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		if err := table.EnqueueRelease("default/a", "sb_1"); err == nil || !signalled(table) {
			t.Errorf("no signal for a failed write (%v)", err)
		}
		fsys.SetFault(nil)

		again := open(t, fsys)
		signalled(again)
		// The lease is the same, so this writes nothing.
		if err := again.ConfirmListed([]claims.Listed{{ID: "sb_2", Deadline: start.Add(24 * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		if !signalled(again) {
			t.Error("no signal when a claim leaves quarantine")
		}
	})
}

// A write has been observed before its waiters return.
func TestObserveWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := faultfs.New()
		table := open(t, disk)
		type write struct {
			took   time.Duration
			failed bool
		}
		var seen []write
		table.ObserveWrites(func(took time.Duration, err error) { seen = append(seen, write{took, err != nil}) })
		disk.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpSyncDir {
				time.Sleep(3 * time.Second)
			}
			return nil
		})
		mustAdd(t, table, "default/a", "sb_1", "pod-1")
		disk.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		if err := table.EnqueueRelease("default/a", "sb_1"); err == nil {
			t.Fatal("a write to a full disk landed")
		}
		disk.SetFault(nil)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]write{{3 * time.Second, false}, {0, true}, {0, false}}, seen, cmp.AllowUnexported(write{})); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
}

func TestCountByState(t *testing.T) {
	disk := faultfs.New()
	table := open(t, disk)
	want := func(counts map[claims.State]int) {
		t.Helper()
		all := map[claims.State]int{claims.Tentative: 0, claims.Bound: 0, claims.Preserved: 0, claims.Quarantined: 0, claims.Releasing: 0}
		maps.Copy(all, counts)
		if diff := cmp.Diff(all, table.CountByState()); diff != "" {
			t.Errorf("claims by state (-want +got):\n%s", diff)
		}
	}
	want(nil)
	for _, id := range []string{"1", "2", "3"} {
		mustAdd(t, table, "default/"+id, id, "pod")
	}
	if err := errors.Join(table.Preserve("default/2", "2", nil, time.Time{}), table.EnqueueRelease("default/3", "3")); err != nil {
		t.Fatal(err)
	}
	want(map[claims.State]int{claims.Bound: 1, claims.Preserved: 1, claims.Releasing: 1})
	table = open(t, disk)
	want(map[claims.State]int{claims.Quarantined: 2, claims.Releasing: 1})
}
