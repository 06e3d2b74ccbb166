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

// lockRetry is the interval between tries of a daemon that waits for the lock.
const lockRetry = 500 * time.Millisecond

// errLockHeld means that another daemon holds the lock.
var errLockHeld = errors.New("another daemon holds it")

// Lock makes the caller the only writer of the table at path. It creates the directory
// with mode 0700 if it is missing, and waits until ctx ends while another daemon holds
// the lock. Nothing else is written before the lock is held. The kernel releases the lock
// when the process ends, however it ends.
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
		klog.FromContext(ctx).Info("waiting for another daemon to release the lock of the claims table", "lock", l.path)
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
