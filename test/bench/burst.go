// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
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
func runBurst(ctx context.Context, s subject.Subject, a arrival, between func(context.Context) error) (b burst, err error) {
	c, pods := s.Cluster(), a.pods
	results.Logf("%s: %d Pods", s.Name(), pods)
	owners, err := c.CreateOwners(ctx, pods)
	if err != nil {
		return b, fmt.Errorf("create the owners: %w", err)
	}
	watch, err := c.Observe(ctx, a.waiting)
	if err != nil {
		return b, err
	}
	defer watch.Stop()

	begun := time.Now()
	if err := c.CreatePods(ctx, owners, s.Node(), watch.Admit); err != nil {
		return b, fmt.Errorf("create the Pods: %w", err)
	}
	if a.serve != nil {
		if err := watch.WaitBound(ctx, pods); err != nil {
			return b, err
		}
		begun = time.Now()
		if err := a.serve(ctx); err != nil {
			return b, err
		}
	}
	end, err := watch.WaitRunning(ctx, pods)
	if err != nil {
		return b, err
	}
	b.all, b.latencies = end.Sub(begun).Seconds(), watch.Latencies()
	if err := s.Check(pods); err != nil {
		return b, err
	}
	if between != nil {
		if err := between(ctx); err != nil {
			return b, err
		}
	}

	if err := c.DeleteOwners(ctx, pods); err != nil {
		return b, fmt.Errorf("delete the owners: %w", err)
	}
	begun = time.Now()
	if err := c.DeletePods(ctx, pods); err != nil {
		return b, fmt.Errorf("delete the Pods: %w", err)
	}
	if end, err = watch.WaitGone(ctx, pods); err != nil {
		return b, err
	}
	b.deleted = max(0, end.Sub(begun).Seconds())
	// What is left to release is released soon after.
	return b, cluster.Poll(ctx, 50*time.Millisecond, func(context.Context) error { return s.Check(0) })
}

// measureBursts takes a large burst and a small one.
func measureBursts(ctx context.Context, o *options, s subject.Subject, figure func(row string, figure float64)) error {
	large, err := runBurst(ctx, s, arrival{pods: o.pods}, nil)
	if err != nil {
		return err
	}
	small, err := runBurst(ctx, s, arrival{pods: o.few()}, nil)
	if err != nil {
		return err
	}
	figure(rowAll(o.pods), large.all)
	figure(rowMiddle(o.pods), results.Quantile(large.latencies, 0.5))
	figure(rowSlow(o.pods), results.Quantile(large.latencies, 0.95))
	figure(rowMiddle(o.few()), results.Quantile(small.latencies, 0.5))
	figure(rowSlow(o.few()), results.Quantile(small.latencies, 0.95))
	figure(rowDeleted(o.pods), large.deleted)
	return nil
}

// measureClaims takes SandboxClaims that come at once, with a warm Sandbox for each. The
// pool is filled again meanwhile, as in production.
func measureClaims(ctx context.Context, o *options, s subject.Subject, figure func(row string, figure float64)) error {
	c := s.Cluster()
	results.Logf("%s: %d SandboxClaims", s.Name(), o.pods)
	if err := c.FillPool(ctx, s.Node(), o.pods); err != nil {
		return err
	}
	latencies, err := c.ClaimAll(ctx, o.pods)
	if err != nil {
		return err
	}
	figure(rowClaim(o.pods), results.Quantile(latencies, 0.5))
	figure(rowSlowClaim(o.pods), results.Quantile(latencies, 0.95))
	if err := c.EmptyPool(ctx); err != nil {
		return err
	}
	return cluster.Poll(ctx, 50*time.Millisecond, func(context.Context) error { return s.Check(0) })
}

// measureBudget takes bursts at default flags: one as the scheduler places it, and
// one that is bound before the daemon starts, so that nothing but the daemon is
// waited for.
func measureBudget(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
	d := subject.NewDaemon(o.programs, c)
	return subject.With(ctx, d, func() error {
		placed, err := runBurst(ctx, d, arrival{pods: o.pods}, nil)
		if err != nil {
			return err
		}
		r.Ours(rowBudget(o.pods), placed.all)
		if err := d.Process.Stop(); err != nil {
			return err
		}
		bound, err := runBurst(ctx, d, arrival{pods: o.pods, serve: d.Launch}, nil)
		if err != nil {
			return err
		}
		r.Ours(rowBudgetBound(o.pods), bound.all)
		return nil
	})
}
