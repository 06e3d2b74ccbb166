// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// The suffixes of the files beside a table: what a daemon that is not allowed to
// use the table has found, and an operator's approval, which ends with its kind.
const (
	PlaceFileSuffix    = ".place"
	ApprovalFileSuffix = ".approval-"
)

// lockRetry is how often a daemon that waits for the lock tries again.
const lockRetry = 500 * time.Millisecond

// errHeld says that another daemon has the lock at the moment.
var errHeld = errors.New("another daemon holds it")

// Lock makes the caller the one writer of the table at path. It creates the
// directory at 0700 when it is missing, and waits while another daemon holds
// the lock, until ctx ends. Nothing else is written before the lock is held.
// The kernel drops the lock with the process, however it ends.
func Lock(ctx context.Context, path string) (*WriterLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("create the state directory: %w", err)
	}
	if err := tighten(ctx, path); err != nil {
		return nil, err
	}
	l := &WriterLock{path: path + ".lock"}
	err := l.take()
	if errors.Is(err, errHeld) {
		klog.FromContext(ctx).Info("waiting for another daemon to let go of the claims table", "lock", l.path)
	}
	for errors.Is(err, errHeld) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(lockRetry):
			err = l.take()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock the claims table with %s: %w", l.path, errors.Join(err, ctx.Err()))
	}
	return l, nil
}

// tighten takes group and world off the state directory, but only where it
// holds nothing except the table's own files: the table may lie in a
// directory that others use.
func tighten(ctx context.Context, path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("read the state directory: %w", err)
	}
	if info.Mode().Perm()&^dirMode == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the state directory: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(ownFiles(filepath.Base(path)), e.Name()) {
			klog.FromContext(ctx).Info("the state directory is shared and open to other users; give the claims table a directory of its own", "directory", dir, "mode", info.Mode().String())
			return nil
		}
	}
	if err := os.Chmod(dir, dirMode); err != nil {
		return fmt.Errorf("take other users' access off the state directory: %w", err)
	}
	return nil
}

// ownFiles are the names of the files that this program keeps in the directory of
// a table: the table itself, and what a daemon and an operator leave beside it.
func ownFiles(table string) []string {
	names := []string{table + ".lock"}
	for _, suffix := range []string{"", PlaceFileSuffix, ApprovalFileSuffix + "place", ApprovalFileSuffix + "missing-owners"} {
		names = append(names, table+suffix, table+suffix+".tmp")
	}
	return names
}
