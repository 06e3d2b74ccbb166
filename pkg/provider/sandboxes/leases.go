// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// leaseRefresh is how long before its end a lease is read again, so that an extended
// lease is known in time.
const leaseRefresh = time.Minute

// CheckLeases checks the claims whose cached lease is about to end or has ended. The
// lease of a listed sandbox is refreshed, and a sandbox that is confirmed gone is
// reported. While sandboxd cannot be listed nothing is decided: an expired deadline alone
// proves nothing. A claim without a deadline gets one here.
func (v *Verifier) CheckLeases(ctx context.Context) {
	now := time.Now()
	ending := v.table.Select(func(c claims.Claim) bool {
		return (c.State == claims.Bound || c.State == claims.Preserved) && !v.pods.HolderTerminated(c) &&
			(c.Deadline.IsZero() || c.Expired(now.Add(leaseRefresh)))
	})
	if len(ending) == 0 {
		return
	}
	l, err := v.index.List(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("leases end by the cached deadline; waiting for sandboxd to confirm", "claims", len(ending), "err", err)
		if sandboxd.ClassOf(err) != sandboxd.Unreachable {
			// A sandbox that is missing until sandboxd can be listed again needs no
			// further wait then.
			for _, c := range ending {
				_, _ = v.index.readMissing(ctx, c.ID)
			}
		}
		return
	}
	v.confirmListed(ctx, l)
	for _, c := range ending {
		v.reportGone(ctx, l, c)
	}
}
