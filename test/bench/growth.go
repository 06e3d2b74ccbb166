// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// around is how many Pods each of the two medians is taken over, at most.
const around = 100

// measureGrowth compares Pods early and late in one long burst. Were they made
// without regard to those that wait, both would have waited for the control plane,
// the late ones behind all others, and nothing would be seen of the daemon.
func measureGrowth(ctx context.Context, o *options, c *cluster, r *report) error {
	d := newDaemon(o, c, fastClient()...)
	return with(ctx, d, func() error {
		b, err := runBurst(ctx, d, arrival{pods: o.late(), waiting: atOnce}, nil)
		if err != nil {
			return err
		}
		half := min(around, o.early()) / 2
		r.ours(of(rowLate, o.late()), median(b.latencies[o.late()-2*half:]))
		r.other(of(rowLate, o.late()), median(b.latencies[o.early()-half:o.early()+half]))
		return nil
	})
}
