// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestReadShowsWhatTheTableWrote(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/b", "sb_2", "pod-2")
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	mustAdd(t, table, "default/c", "sb_3", "pod-3")
	if err := table.Preserve("default/b", "sb_2", &claims.Owner{Kind: "Sandbox", Name: "b", UID: "owner-1"}); err != nil {
		t.Fatal(err)
	}
	if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
		t.Fatal(err)
	}
	renames := fsys.Renames()
	rows, err := claims.Read(fsys, path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range rows {
		got = append(got, c.Key+" "+c.ID+" "+string(c.State))
	}
	want := []string{"default/b sb_2 preserved", "default/c sb_3 bound", "default/a sb_1 releasing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if fsys.Renames() != renames || len(fsys.Names()) != 1 {
		t.Errorf("reading wrote: files %v, %d renames", fsys.Names(), fsys.Renames()-renames)
	}
}

// On the machine's own file system, nothing but reading takes place.
func TestReadLeavesTheDirectoryAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "claims.json")
	if err := os.WriteFile(file, []byte(`{"claims":{"a/b":{"id":"x","token":"t"}}}`), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := claims.Read(claims.OS(), file)
	if err != nil || len(rows) != 1 {
		t.Fatalf("rows %v, %v", rows, err)
	}
	after, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) || before.Mode() != after.Mode() {
		t.Errorf("the file was %v and is %v", before, after)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the directory's mode is %v, %v", info.Mode(), err)
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := claims.Read(faultfs.New(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v, want one that does not exist", err)
	}
	fsys := faultfs.New()
	fsys.Put(path, []byte(`{"claims":{"a/b":{"id":"x","token":"CANARY-7f3a91"`))
	if _, err := claims.Read(fsys, path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("a damaged file: %v, want an error that names it and no token", err)
	}
}

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
		if err := again.ConfirmListed([]claims.Seen{{ID: "sb_2", Deadline: start.Add(24 * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		if !signalled(again) {
			t.Error("no signal when a claim leaves quarantine")
		}
	})
}
