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

	"github.com/gofrs/flock"
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

// Lock makes the caller the one writer of the table at path. It creates the
// directory at 0700 when it is missing, and waits while another daemon holds
// the lock, until ctx ends. Nothing else is written before the lock is held.
// The kernel drops the lock with the process, however it ends.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("create the state directory: %w", err)
	}
	if err := tighten(ctx, path); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(fileMode))
	held, err := lock.TryLock()
	if err == nil && !held {
		klog.FromContext(ctx).Info("waiting for another daemon to let go of the claims table", "lock", lock.Path())
		held, err = lock.TryLockContext(ctx, lockRetry)
	}
	if err != nil || !held {
		return nil, fmt.Errorf("lock the claims table with %s: %w", lock.Path(), errors.Join(err, ctx.Err()))
	}
	return lock.Close, nil
}

// tighten takes group and world off the state directory, but only where it
// holds nothing except the table's own files: --state-path may point into a
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
			klog.FromContext(ctx).Info("the state directory is shared and open to other users; give --state-path a directory of its own", "directory", dir, "mode", info.Mode().String())
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
