// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

func mode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestFileModes: credentials are for root alone, whatever the umask is and
// whatever was there before.
func TestFileModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, before := range []string{"nothing", "an open directory and file"} {
		t.Run(before, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			file := filepath.Join(dir, "claims.json")
			if before != "nothing" {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{file, file + ".tmp"} {
					if err := os.WriteFile(name, []byte(`{"claims":{}}`), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			lock, err := claimfile.Lock(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lock.Unlock() }()
			table, err := claims.Open(claimfile.New(claimfile.OS(), file), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			mustAdd(t, table, "default/a", "sb_1", "pod-1")
			if got := mode(t, dir); got != 0o700 {
				t.Errorf("directory %v, want 0700", got)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if got := mode(t, filepath.Join(dir, e.Name())); got != 0o600 {
					t.Errorf("%s %v, want 0600", e.Name(), got)
				}
				if e.Name() == "claims.json.tmp" {
					t.Error("a temporary file was left behind")
				}
			}
		})
	}
}

// TestSharedDirectoryIsNotTightened: a state path in a directory that others
// use must not lock them out.
func TestSharedDirectoryIsNotTightened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "of-somebody-else"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lock, err := claimfile.Lock(t.Context(), filepath.Join(dir, "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	if got := mode(t, dir); got != 0o755 {
		t.Errorf("the shared directory became %v", got)
	}
}

// The files beside a table do not make its directory one that others use.
func TestOwnFilesAreNoReasonToLeaveADirectoryOpen(t *testing.T) {
	for name, want := range map[string]os.FileMode{
		"claims.json.place": 0o700, "claims.json.place.tmp": 0o700,
		"claims.json.approval-place": 0o700, "claims.json.approval-missing-owners": 0o700, "claims.json.approval-place.tmp": 0o700,
		"claims.json.approval-other": 0o755,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			lock, err := claimfile.Lock(t.Context(), filepath.Join(dir, "claims.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lock.Unlock() }()
			if got := mode(t, dir); got != want {
				t.Errorf("directory %v, want %v", got, want)
			}
		})
	}
}
