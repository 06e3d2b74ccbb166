// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FS is the part of a file system that the table stands on. [OS] is the real
// one; tests put in one that fails, forgets what was not synced, and stops at
// any step.
type FS interface {
	// ReadFile returns the whole file; an error that is [fs.ErrNotExist] when
	// there is none.
	ReadFile(name string) ([]byte, error)
	// Create makes a new file for writing, in place of any of that name, with
	// mode 0600 whatever the umask.
	Create(name string) (File, error)
	// Rename replaces newName atomically.
	Rename(oldName, newName string) error
	// Remove deletes the file; no error when there is none.
	Remove(name string) error
	// SyncDir makes the renames in a directory durable.
	SyncDir(name string) error
}

// File is a file being written.
type File interface {
	io.Writer
	// Sync makes what was written durable.
	Sync() error
	Close() error
}

// OS returns the machine's file system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (osFS) Create(name string) (File, error) {
	// Removing first matters: opening an existing file would keep its mode.
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (osFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

func (osFS) Remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// errUnsynced says that a write can be read and may not survive a crash.
var errUnsynced = errors.New("the new file is in place and not durable")

// ReplaceFile writes data to path, at mode 0600, so that after a crash the file is either the old
// one or the new one, whole: temporary file, fsync, rename, directory fsync.
// The temporary file has one fixed name, so failures do not pile files up.
func ReplaceFile(fsys FS, path string, data []byte) (err error) {
	tmp := path + ".tmp"
	f, err := fsys.Create(tmp)
	if err != nil {
		return fmt.Errorf("create %s: %w", tmp, err)
	}
	defer func() {
		if err != nil && !errors.Is(err, errUnsynced) {
			err = errors.Join(err, fsys.Remove(tmp))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", tmp, err), f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", tmp, err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", tmp, err)
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return fmt.Errorf("rename %s to %s: %w", tmp, path, err)
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync the directory of %s: %w: %w", path, errUnsynced, err)
	}
	return nil
}
