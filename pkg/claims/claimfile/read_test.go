// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestReadShowsWhatTheTableWrote(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/b", "sb_2", "pod-2")
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	mustAdd(t, table, "default/c", "sb_3", "pod-3")
	if err := table.Preserve("default/b", "sb_2", &claims.Owner{Kind: "Sandbox", Name: "b", UID: "owner-1"}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
		t.Fatal(err)
	}
	renames := fsys.Renames()
	rows, err := claimfile.Read(fsys, path)
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
	rows, err := claimfile.Read(claimfile.OS(), file)
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
	if _, err := claimfile.Read(faultfs.New(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v, want one that does not exist", err)
	}
	fsys := faultfs.New()
	fsys.Put(path, []byte(`{"claims":{"a/b":{"id":"x","token":"SECRET-7f3a91"`))
	if _, err := claimfile.Read(fsys, path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("a damaged file: %v, want an error that names it and no token", err)
	}
}
