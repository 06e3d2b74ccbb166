// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
)

// Subject is what is measured: a process that serves the Pods of one node.
type Subject interface {
	Name() string
	Node() string
	// start returns when Pods can be scheduled to the node.
	start(context.Context) error
	// check reports when what it holds is not what so many Pods are due.
	Check(pods int) error
	Alive() error
	// stop ends the process and removes its Node.
	stop(context.Context) error
	Cluster() *cluster.Cluster
}

func waitSchedulable(ctx context.Context, s Subject) error {
	return cluster.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		if err := s.Alive(); err != nil {
			return err
		}
		return s.Cluster().Schedulable(ctx, s.Node())
	})
}

// With runs a measurement on a subject that has just started.
func With(ctx context.Context, s Subject, measure func() error) (err error) {
	defer func() {
		if stopErr := s.stop(context.WithoutCancel(ctx)); err == nil {
			err = stopErr
		}
	}()
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("start %s: %w", s.Name(), err)
	}
	return measure()
}
