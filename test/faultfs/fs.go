// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faultfs is a file system in memory for tests of the claims table. It
// fails where it is told to, and a crash takes away what was not made durable:
// content that was not fsynced, and renames whose directory was not.
package faultfs

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// ErrCrashed is what every call gets between a crash and the reboot.
var ErrCrashed = errors.New("the machine has crashed")

// Op is one step of a write.
type Op string

// The steps, in the order in which the table takes them.
const (
	OpCreate  Op = "create"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
	OpRename  Op = "rename"
	OpSyncDir Op = "syncdir"
	OpRemove  Op = "remove"
)

// Ops is every step that can fail.
var Ops = []Op{OpCreate, OpWrite, OpSync, OpClose, OpRename, OpSyncDir}

// FS implements [claimfile.FS]. It is safe for concurrent use.
type FS struct {
	mu sync.Mutex
	// before, when set, runs before each step; its error fails the step.
	before func(Op) error
	now    map[string]*inode // what processes see
	kept   map[string]*inode // what a crash leaves of the directory
	dead   bool
	writes int
}

type inode struct {
	data   []byte
	synced []byte
}

var _ claimfile.FS = (*FS)(nil)

// New returns an empty file system that never fails.
func New() *FS {
	return &FS{now: map[string]*inode{}, kept: map[string]*inode{}}
}

// SetFault runs before ahead of each step from now on; its error fails the
// step. Nil ends the faults. A failing write leaves half of its data behind.
func (f *FS) SetFault(before func(Op) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

// Faulty reports whether faults are set.
func (f *FS) Faulty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before != nil
}

// Put places a durable file, as an earlier process left it.
func (f *FS) Put(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := &inode{data: slices.Clone(data), synced: slices.Clone(data)}
	f.now[name], f.kept[name] = n, n
}

// Names lists the files.
func (f *FS) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.now))
}

// Renames counts the renames that succeeded: the table's writes.
func (f *FS) Renames() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// Crash stops the machine: every call fails until [FS.Reboot].
func (f *FS) Crash() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// Revive ends a crash of the process alone: the kernel still has what it wrote.
func (f *FS) Revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead, f.before = false, nil
}

// Durable returns what a crash of the machine would leave of a file; nil when
// it would leave none. The caller does not change it.
func (f *FS) Durable(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, ok := f.kept[name]; ok {
		return n.synced
	}
	return nil
}

// Reboot brings the file system back with what was durable. What was not may
// have reached the disk all the same, in whole or in part: rng decides. A nil
// rng keeps only what was durable.
func (f *FS) Reboot(rng *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if rng != nil && rng.IntN(2) == 0 {
		f.kept = f.now
	}
	f.now = map[string]*inode{}
	for name, n := range f.kept {
		data := n.synced
		if rng != nil && len(n.data) > len(data) && rng.IntN(2) == 0 {
			data = n.data[:len(data)+rng.IntN(len(n.data)-len(data)+1)]
		}
		f.now[name] = &inode{data: slices.Clone(data), synced: slices.Clone(data)}
	}
	f.kept = maps.Clone(f.now)
	f.dead, f.before = false, nil
}

// step admits or fails one step. The caller holds mu.
func (f *FS) step(op Op) error {
	if f.dead {
		return ErrCrashed
	}
	if f.before == nil {
		return nil
	}
	err := f.before(op)
	if errors.Is(err, ErrCrashed) {
		f.dead = true
	}
	return err
}

// ReadFile implements [claimfile.FS].
func (f *FS) ReadFile(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, ErrCrashed
	}
	n, ok := f.now[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return slices.Clone(n.data), nil
}

// Create implements [claimfile.FS].
func (f *FS) Create(name string) (claimfile.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(OpCreate); err != nil {
		return nil, err
	}
	n := &inode{}
	f.now[name] = n
	return &file{fs: f, inode: n}, nil
}

// Rename implements [claimfile.FS].
func (f *FS) Rename(oldName, newName string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(OpRename); err != nil {
		return err
	}
	n, ok := f.now[oldName]
	if !ok {
		return fs.ErrNotExist
	}
	delete(f.now, oldName)
	f.now[newName] = n
	f.writes++
	return nil
}

// Remove implements [claimfile.FS].
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(OpRemove); err != nil {
		return err
	}
	delete(f.now, name)
	return nil
}

// SyncDir implements [claimfile.FS].
func (f *FS) SyncDir(string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(OpSyncDir); err != nil {
		return err
	}
	f.kept = maps.Clone(f.now)
	return nil
}

type file struct {
	fs    *FS
	inode *inode
}

func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.step(OpWrite); err != nil {
		half := len(p) / 2
		f.inode.data = append(f.inode.data, p[:half]...)
		return half, err
	}
	f.inode.data = append(f.inode.data, p...)
	return len(p), nil
}

func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.step(OpSync); err != nil {
		return err
	}
	f.inode.synced = slices.Clone(f.inode.data)
	return nil
}

func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.fs.step(OpClose)
}
