// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
)

// run is a check in progress.
type run struct {
	Config
	mu sync.Mutex // serializes Out
}

// Run checks the installation. The error lists all failures, node by node, with what to
// do about each.
func Run(ctx context.Context, c Config) error {
	if err := c.validate(); err != nil {
		return err
	}
	r := &run{Config: c}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	nodes, err := r.waitNodes(ctx)
	if err != nil {
		return err
	}
	failed := make([]error, len(nodes))
	// A failure on one node does not cancel the checks of the others.
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, node := range nodes {
		group.Go(func() error {
			if err := r.checkNode(ctx, node); err != nil {
				failed[i] = fmt.Errorf("%s: %w", node, err)
			}
			return nil
		})
	}
	_ = group.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	r.printf("all virtual nodes (%d) made a claim and released it", len(nodes))
	return nil
}

// printf prints a line.
func (r *run) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.Out, format+"\n", args...)
}
