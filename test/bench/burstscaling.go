// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
)

// around is how many Pods each of the two medians is taken over, at most.
const around = 100

// measureBurstScaling compares Pods early and late in one long burst. Were they made
// without regard to those that wait, both would have waited for the control plane,
// the late ones behind all others, and nothing would be seen of the daemon.
func measureBurstScaling(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
	d := subject.NewDaemon(o.programs, c, subject.FastClient()...)
	return subject.With(ctx, d, func() error {
		b, err := runBurst(ctx, d, arrival{pods: o.late(), waiting: cluster.AtOnce}, nil)
		if err != nil {
			return err
		}
		half := min(around, o.early()) / 2
		r.Ours(of(rowLate, o.late()), results.Median(b.latencies[o.late()-2*half:]))
		r.Other(of(rowLate, o.late()), results.Median(b.latencies[o.early()-half:o.early()+half]))
		return nil
	})
}
