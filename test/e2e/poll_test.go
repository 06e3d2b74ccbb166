// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	pollInterval = 250 * time.Millisecond
	// patience is the time limit for changes that should take seconds.
	patience = 90 * time.Second
)

// poll calls check until it returns nil. At the time limit it returns the last error.
func poll(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); err != nil {
			// The error of a request that the deadline cut off is less useful.
			if ctx.Err() == nil || last == nil {
				last = err
			}
			return false, nil
		}
		return true, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("waited %s: %w", patience, last)
	}
	return err
}

// eventually ends the test unless check returns nil in time.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := poll(t.Context(), check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
