// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
)

// lockRetry is how often a daemon that waits for the lock tries again.
const lockRetry = 500 * time.Millisecond

// errLockHeld says that another daemon has the lock at the moment.
var errLockHeld = errors.New("another daemon holds it")

// Lock makes the caller the one writer of the table at path. It creates the
// directory at 0700 when it is missing, and waits while another daemon holds
// the lock, until ctx ends. Nothing else is written before the lock is held.
// The kernel drops the lock with the process, however it ends.
func Lock(ctx context.Context, path string) (*WriterLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("create the state directory: %w", err)
	}
	if err := restrictDirectory(ctx, path); err != nil {
		return nil, err
	}
	l := &WriterLock{path: path + ".lock"}
	err := l.take()
	if errors.Is(err, errLockHeld) {
		klog.FromContext(ctx).Info("waiting for another daemon to let go of the claims table", "lock", l.path)
	}
	for errors.Is(err, errLockHeld) && ctx.Err() == nil {
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
