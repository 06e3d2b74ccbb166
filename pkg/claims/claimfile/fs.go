// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// FS is the part of a file system that the table uses. [OS] is the real one; tests use
// one that fails, loses unsynced writes, and stops at any step.
type FS interface {
	// ReadFile returns the whole file. A missing file is an error that is
	// [fs.ErrNotExist].
	ReadFile(name string) ([]byte, error)
	// Create makes a new file for writing, replacing any file of that name, with mode
	// 0600 regardless of the umask.
	Create(name string) (File, error)
	// Rename replaces newName atomically.
	Rename(oldName, newName string) error
	// Remove deletes the file. A missing file is no error.
	Remove(name string) error
	// SyncDir makes the renames in a directory durable.
	SyncDir(name string) error
}

// File is a file being written.
type File interface {
	io.Writer
	// Sync makes the written data durable.
	Sync() error
	Close() error
}

// OS returns the machine's file system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (osFS) Create(name string) (File, error) {
	// The file is removed first, because opening an existing file would keep its mode.
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
