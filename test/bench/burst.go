// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// burst is what a number of Pods that come at once took.
type burst struct {
	// all is from the first create request to the last Pod seen Running.
	all float64
	// latencies are from bound to Running, in the order of binding.
	latencies []float64
	// deleted is from the first delete request, when no owner is left, to the
	// end of the last Pod in the API.
	deleted float64
}

// runBurst makes so many Pods on the subject's node, and ends them. Between, it
// does what the caller wants with them, if anything.
func runBurst(ctx context.Context, s subject, pods int, between func(context.Context) error) (b burst, err error) {
	c := s.in()
	say("%s: %d Pods", s.name(), pods)
	owners, err := c.createOwners(ctx, pods)
	if err != nil {
		return b, fmt.Errorf("create the owners: %w", err)
	}
	watch, err := c.observe(ctx)
	if err != nil {
		return b, err
	}
	defer watch.stop()

	begun := time.Now()
	if err := c.createPods(ctx, owners, s.node()); err != nil {
		return b, fmt.Errorf("create the Pods: %w", err)
	}
	end, err := watch.waitRunning(ctx, pods)
	if err != nil {
		return b, err
	}
	b.all, b.latencies = end.Sub(begun).Seconds(), watch.latencies()
	if err := s.check(pods); err != nil {
		return b, err
	}
	if between != nil {
		if err := between(ctx); err != nil {
			return b, err
		}
	}

	if err := c.deleteOwners(ctx, pods); err != nil {
		return b, fmt.Errorf("delete the owners: %w", err)
	}
	begun = time.Now()
	if err := c.deletePods(ctx, pods); err != nil {
		return b, fmt.Errorf("delete the Pods: %w", err)
	}
	if end, err = watch.waitGone(ctx, pods); err != nil {
		return b, err
	}
	b.deleted = max(0, end.Sub(begun).Seconds())
	// What is left to release is released soon after.
	return b, poll(ctx, 50*time.Millisecond, func(context.Context) error { return s.check(0) })
}

// measureBursts takes the rows that both subjects have.
func measureBursts(ctx context.Context, o *options, r *report, s subject, peer bool) error {
	figure := r.ours
	if peer {
		figure = r.other
	}
	return with(ctx, s, func() error {
		large, err := runBurst(ctx, s, o.pods, nil)
		if err != nil {
			return err
		}
		small, err := runBurst(ctx, s, o.few(), nil)
		if err != nil {
			return err
		}
		figure(rowAll(o.pods), large.all)
		figure(rowMiddle(o.pods), quantile(large.latencies, 0.5))
		figure(rowSlow(o.pods), quantile(large.latencies, 0.95))
		figure(rowMiddle(o.few()), quantile(small.latencies, 0.5))
		figure(rowSlow(o.few()), quantile(small.latencies, 0.95))
		figure(rowDeleted(o.pods), large.deleted)
		return nil
	})
}

// measureBudget takes a burst at default flags.
func measureBudget(ctx context.Context, o *options, c *cluster, r *report) error {
	d := newDaemon(o, c)
	return with(ctx, d, func() error {
		b, err := runBurst(ctx, d, o.pods, nil)
		if err == nil {
			r.ours(rowBudget(o.pods), b.all)
		}
		return err
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
