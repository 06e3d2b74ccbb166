// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// settleTime is how long a daemon is left alone before it is taken to be at
// rest: what a restart sets off has been published by then.
const settleTime = 15 * time.Second

// measureLoaded restarts the daemon with many bound Pods, and then leaves it
// alone, with both publishers on. At default flags the rate of the pod queue decides
// over the restart: (2000 - 400) / 200 is 8 s, whatever else it takes.
func measureLoaded(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
	d := subject.NewDaemon(o.programs, c, append(subject.FastClient(), "--publish-inventory")...)
	return subject.With(ctx, d, func() error {
		_, err := runBurst(ctx, d, arrival{pods: o.many()}, func(ctx context.Context) error {
			restarted, err := measureRestart(ctx, o, d, r)
			if err != nil {
				return err
			}
			if err := measureRest(ctx, o, d, r); err != nil {
				return err
			}
			requests, err := c.Info.Requests(cluster.DaemonUser, restarted)
			if err != nil {
				return err
			}
			if len(requests) == 0 {
				return fmt.Errorf("the audit log %s has no request of the daemon since it started", c.Info.AuditLog)
			}
			writes := 0
			for _, request := range requests {
				// An event is one, too.
				if r := request.ObjectRef.Resource; (r == "pods" || r == "events") && !request.ReadOnly() {
					writes++
				}
			}
			r.Ours(rowRestartWrite, float64(writes))
			return nil
		})
		return err
	})
}

// measureRestart takes the time from the start of the process, which it returns,
// until all Pods are served as before.
func measureRestart(ctx context.Context, o *options, d *subject.Daemon, r *results.Report) (begun time.Time, err error) {
	results.Logf("restart with %d Pods", o.many())
	// Statuses of the burst may still be on their way.
	if err := cluster.Sleep(ctx, min(settleTime, o.rest)); err != nil {
		return begun, err
	}
	if err := d.Process.Stop(); err != nil {
		return begun, err
	}
	begun = time.Now()
	if err := d.Launch(ctx); err != nil {
		return begun, err
	}
	if err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error { return serving(ctx, d, o.many()) }); err != nil {
		return begun, err
	}
	r.Ours(of(rowRestart, o.many()), time.Since(begun).Seconds())
	return begun, nil
}

// serving reports what a daemon that has just started still lacks: its table
// verified, every Pod adopted, its queues empty, its Node Ready.
func serving(ctx context.Context, d *subject.Daemon, pods int) error {
	if err := d.Alive(); err != nil {
		return err
	}
	m, err := d.Metrics(ctx)
	if err != nil {
		return err
	}
	bound, quarantined := m.Value("vk_sandbox_claims", "state", "bound"), m.Value("vk_sandbox_claims", "state", "quarantined")
	if bound != float64(pods) || quarantined != 0 {
		return fmt.Errorf("%v claims are verified and %v are not, of %d", bound, quarantined, pods)
	}
	if adopted := m.Value("vk_sandbox_pod_operations_total", "result", "success"); adopted < float64(pods) {
		return fmt.Errorf("%v Pods of %d are adopted", adopted, pods)
	}
	if waiting := m.Sum("vk_sandbox_queue_depth"); waiting != 0 {
		return fmt.Errorf("%v Pods are in a queue", waiting)
	}
	return errors.Join(d.Ready(ctx), d.Cluster().Schedulable(ctx, d.Node()))
}

// measureRest watches the daemon do nothing.
func measureRest(ctx context.Context, o *options, d *subject.Daemon, r *results.Report) error {
	results.Logf("at rest for %v", o.rest)
	if err := cluster.Sleep(ctx, min(settleTime, o.rest)); err != nil {
		return err
	}
	begun := time.Now()
	before, _, err := d.Process.Usage()
	if err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, o.rest); err != nil {
		return err
	}
	after, resident, err := d.Process.Usage()
	if err != nil {
		return err
	}
	end := time.Now()
	requests, err := d.Cluster().Info.Requests(cluster.DaemonUser, begun)
	if err != nil {
		return err
	}
	requests = slices.DeleteFunc(requests, func(r clusterinfo.Request) bool { return r.RequestReceivedTimestamp.After(end) })
	lists := 0
	for _, request := range requests {
		if request.Verb == "list" {
			lists++
		}
	}
	took := end.Sub(begun).Seconds()
	r.Ours(of(rowRequests, o.many()), float64(len(requests))/took)
	r.Ours(rowLists, float64(lists))
	r.Ours(rowCPU, 100*(after-before)/took)
	r.Ours(of(rowMemory, o.many()), float64(resident)/(1<<20))
	return nil
}
