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
	// all is from the first create request, or the moment when the subject was let
	// at them, to the last Pod seen Running.
	all float64
	// latencies are from bound to Running, in the order of binding.
	latencies []float64
	// deleted is from the first delete request, when no owner is left, to the
	// end of the last Pod in the API.
	deleted float64
}

// arrival is how the Pods of a burst come.
type arrival struct {
	pods int
	// waiting is how many of them may not be Running yet before another is made;
	// zero for any number.
	waiting int
	// serve starts the subject once all are bound; nil where it runs already.
	serve func(context.Context) error
}

// runBurst makes Pods on the subject's node, and ends them. Between, it does what
// the caller wants with them, if anything.
func runBurst(ctx context.Context, s subject, a arrival, between func(context.Context) error) (b burst, err error) {
	c, pods := s.in(), a.pods
	say("%s: %d Pods", s.name(), pods)
	owners, err := c.createOwners(ctx, pods)
	if err != nil {
		return b, fmt.Errorf("create the owners: %w", err)
	}
	watch, err := c.observe(ctx, a.waiting)
	if err != nil {
		return b, err
	}
	defer watch.stop()

	begun := time.Now()
	if err := c.createPods(ctx, owners, s.node(), watch.admit); err != nil {
		return b, fmt.Errorf("create the Pods: %w", err)
	}
	if a.serve != nil {
		if err := watch.waitBound(ctx, pods); err != nil {
			return b, err
		}
		begun = time.Now()
		if err := a.serve(ctx); err != nil {
			return b, err
		}
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
		large, err := runBurst(ctx, s, arrival{pods: o.pods}, nil)
		if err != nil {
			return err
		}
		small, err := runBurst(ctx, s, arrival{pods: o.few()}, nil)
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

// measureBudget takes bursts at default flags: one as the scheduler places it, and
// one that is bound before the daemon starts, so that nothing but the daemon is
// waited for.
func measureBudget(ctx context.Context, o *options, c *cluster, r *report) error {
	d := newDaemon(o, c)
	return with(ctx, d, func() error {
		placed, err := runBurst(ctx, d, arrival{pods: o.pods}, nil)
		if err != nil {
			return err
		}
		r.ours(rowBudget(o.pods), placed.all)
		if err := d.process.stop(); err != nil {
			return err
		}
		bound, err := runBurst(ctx, d, arrival{pods: o.pods, serve: d.launch}, nil)
		if err != nil {
			return err
		}
		r.ours(rowBudgetBound(o.pods), bound.all)
		return nil
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
