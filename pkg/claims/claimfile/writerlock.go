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

// lockCheck is the interval at which [WriterLock.Watch] checks the lock file.
const lockCheck = time.Second

// ErrLockLost means that this daemon may no longer be the only writer of the table. It is
// permanent: changes written by another daemon are read at the next start only.
var ErrLockLost = errors.New("another process has replaced the lock file of the claims table; this daemon writes no more and has to be started again")

// WriterLock is the right to write one claims table. It consists of two locks. The lock
// on the file beside the table excludes every build. The lock on the directory cannot be
// removed while the table exists, and excludes a second daemon if someone deletes the
// lock file.
type WriterLock struct {
	path string // of the lock file

	mu   sync.Mutex
	file *flock.Flock
	dir  *flock.Flock // nil if another table is in the directory
	lost bool
}

// take acquires both locks or neither; errLockHeld means that another daemon has one. The
// directory comes first, so that a waiting daemon does not touch the lock file of the
// writer.
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

// lockFile locks the lock file and verifies that path still names it: a lock on a deleted
// file excludes nobody.
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

// lockDirectory locks the directory of a lock file. It returns nil if another table's
// lock file is in the directory, because that table's daemon must not be excluded.
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

// inPlace reports whether path names the locked file.
func inPlace(lock *flock.Flock, path string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// Unlock releases the lock. Call it once, after the last write.
func (l *WriterLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(closeLock(l.file), closeLock(l.dir))
}

// Check verifies that the lock file is the locked one. A deleted lock file is created and
// locked again. If another process has replaced it, that process may have written the
// table, and this and every later call returns [ErrLockLost].
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
	_ = l.file.Close() // the file was deleted
	l.file = again
	return nil
}

// Watch checks the lock file until ctx ends. It returns [ErrLockLost] as soon as the lock
// is lost, and nil otherwise.
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

// Guard returns fsys with a [WriterLock.Check] before each file that is created, so that
// nothing is written without the lock.
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
