// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// lock takes the lock of a table, which must be free, and gives it back with the
// test.
func lock(t *testing.T, file string) *claimfile.WriterLock {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it is not waited for
	l, err := claimfile.Lock(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Unlock() })
	return l
}

// refused fails the test when another daemon gets the lock now.
func refused(t *testing.T, file, what string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := claimfile.Lock(ctx, file); err == nil {
		_ = l.Unlock()
		t.Errorf("%s: a second daemon has the lock", what)
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// Deleting the lock file admits no second writer, and the first one makes it
// again: a daemon of an older build knows no other lock.
func TestDeletedLockFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.json")
	first := lock(t, file)
	table, err := claims.Open(claimfile.New(first.Guard(claimfile.OS()), file), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	remove(t, file+".lock")
	refused(t, file, "deleted")
	if _, err := os.Stat(file + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the daemon that waits made the lock file")
	}
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	if held, err := flock.New(file + ".lock").TryLock(); err != nil || held {
		t.Errorf("an older build gets the lock %v (%v)", held, err)
	}
	refused(t, file, "made again")
	remove(t, file+".lock")
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	lock(t, file)
}

// A daemon of an older build that found no lock file stops this one's writes for
// good, even when it has gone again: what it wrote is not in this one's memory.
func TestReplacedLockFile(t *testing.T) {
	for _, ends := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "claims.json")
		first := lock(t, file)
		table, err := claims.Open(claimfile.New(first.Guard(claimfile.OS()), file), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		remove(t, file+".lock")
		older := flock.New(file + ".lock")
		if held, err := older.TryLock(); err != nil || !held {
			t.Fatalf("the older build gets the lock: %v (%v)", held, err)
		}
		if ends {
			if err := older.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Add("default/a", row("sb_1", "pod-1"), nil); !errors.Is(err, claimfile.ErrLockLost) {
			t.Errorf("a write beside another daemon: %v, want ErrLockLost", err)
		}
		_ = older.Close()
		remove(t, file+".lock")
		if err := table.Flush(); !errors.Is(err, claimfile.ErrLockLost) {
			t.Errorf("a write after another daemon: %v, want ErrLockLost", err)
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := first.Watch(ctx); !errors.Is(err, claimfile.ErrLockLost) {
				t.Errorf("the watch ends with %v, want ErrLockLost", err)
			}
		})
	}
}

// Two tables in one directory do not keep each other out, and each still admits
// one writer.
func TestLockOfAnotherTableInTheDirectory(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	if err := os.WriteFile(b+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock(t, a)
	lock(t, b)
	refused(t, a, "another table beside it")
	refused(t, b, "another table beside it")
}

// The watch ends with its context.
func TestWatchEnds(t *testing.T) {
	l := lock(t, filepath.Join(t.TempDir(), "claims.json"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Watch(ctx); err != nil {
		t.Error(err)
	}
}

// TestSecondDaemonWaits: one writer. A second daemon waits for the lock, and gives up
// when its context ends.
func TestSecondDaemonWaits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.json")
	lock, err := claimfile.Lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := claimfile.Lock(stopped, file); err == nil {
		t.Fatal("two daemons hold the lock")
	}
	got := make(chan error, 1)
	go func() {
		second, err := claimfile.Lock(t.Context(), file)
		if err == nil {
			err = second.Unlock()
		}
		got <- err
	}()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("the second daemon did not get the lock once it was free: %v", err)
	}
}
