// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/klog/v2"
)

// lockCheck is how often [WriterLock.Watch] looks for the lock file.
const lockCheck = time.Second

// ErrLockLost says that this daemon can no longer be sure to be the only writer
// of the table. It lasts: what another daemon has written meanwhile is read at
// the next start only.
var ErrLockLost = errors.New("another process has replaced the lock file of the claims table; this daemon writes no more and has to be started again")

// WriterLock is the right to write one claims table. It consists of two locks.
// The one on the file beside the table excludes every build. The one on the
// directory cannot be removed as long as the table is there, and keeps a second
// daemon out when someone deletes the file.
type WriterLock struct {
	path string // of the lock file

	mu   sync.Mutex
	file *flock.Flock
	dir  *flock.Flock // nil where another table is in the directory
	lost bool
}

// take gets both locks, or errLockHeld and neither. The directory comes first: a
// daemon that waits for it does not touch the lock file of the one that writes.
func (l *WriterLock) take() (err error) {
	dir, err := lockDirectory(l.path)
	if err != nil {
		return err
	}
	file, err := lockFile(l.path)
	if err != nil {
		return errors.Join(err, closeLock(dir))
	}
	l.dir, l.file = dir, file
	return nil
}

// lockFile locks the lock file and makes sure that it is still the one of that
// name: a lock on a file that was deleted excludes nobody.
func lockFile(path string) (*flock.Flock, error) {
	lock, err := tryLock(flock.New(path, flock.SetPermissions(fileMode)))
	if err != nil {
		return nil, err
	}
	if !inPlace(lock, path) {
		return nil, errors.Join(errLockHeld, lock.Close())
	}
	return lock, nil
}

// lockDirectory locks the directory of a lock file; nil when another table's lock
// file is in it, whose daemon must not be kept out.
func lockDirectory(path string) (*flock.Flock, error) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the state directory: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") && e.Name() != filepath.Base(path) {
			return nil, nil
		}
	}
	return tryLock(flock.New(dir, flock.SetFlag(os.O_RDONLY)))
}

func tryLock(lock *flock.Flock) (*flock.Flock, error) {
	held, err := lock.TryLock()
	if err == nil && !held {
		err = errLockHeld
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func closeLock(lock *flock.Flock) error {
	if lock == nil {
		return nil
	}
	return lock.Close()
}

// inPlace reports whether path names the file that is locked.
func inPlace(lock *flock.Flock, path string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// Unlock lets another daemon write. It is called once, after the last write.
func (l *WriterLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(closeLock(l.file), closeLock(l.dir))
}

// Check makes sure that the lock file is the one that is locked. A file that was
// deleted is made and locked again. Where a file that is not ours has taken its
// place, another daemon may have written the table, and the answer is
// [ErrLockLost], then and ever after.
func (l *WriterLock) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return ErrLockLost
	}
	if inPlace(l.file, l.path) {
		return nil
	}
	if _, err := os.Lstat(l.path); !errors.Is(err, fs.ErrNotExist) {
		l.lost = err == nil
		if err == nil {
			return ErrLockLost
		}
		return fmt.Errorf("read the lock file of the claims table: %w", err)
	}
	again, err := lockFile(l.path)
	if errors.Is(err, errLockHeld) {
		l.lost = true
		return ErrLockLost
	}
	if err != nil {
		return fmt.Errorf("make the lock file of the claims table again: %w", err)
	}
	_ = l.file.Close() // a file that has no name any more
	l.file = again
	return nil
}

// Watch keeps the lock file in place until ctx ends. It returns [ErrLockLost] as
// soon as the lock is lost, and nil otherwise.
func (l *WriterLock) Watch(ctx context.Context) error {
	turn := time.NewTicker(lockCheck)
	defer turn.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-turn.C:
		}
		err := l.Check()
		if errors.Is(err, ErrLockLost) {
			return err
		}
		if err != nil && !failing {
			klog.FromContext(ctx).Error(err, "The lock file of the claims table cannot be checked; nothing is written until it can", "lock", l.path)
		}
		failing = err != nil
	}
}

// Guard returns fsys with a [WriterLock.Check] before each file that is made, so
// that nothing is written without the lock.
func (l *WriterLock) Guard(fsys FS) FS { return guardedFS{FS: fsys, lock: l} }

type guardedFS struct {
	FS

	lock *WriterLock
}

// Create implements [FS].
func (g guardedFS) Create(name string) (File, error) {
	if err := g.lock.Check(); err != nil {
		return nil, err
	}
	return g.FS.Create(name)
}
