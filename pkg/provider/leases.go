// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// leaseRefresh is how long before its end a lease is read again, so that one that
// was moved is known to have.
const leaseRefresh = time.Minute

// watchLeases looks at the claims whose cached lease is about to end or has ended. A
// sandbox that the node still lists has its lease refreshed; one that is surely gone
// ends its Pod; a node that cannot be listed defers (architecture, "Leases"). The
// clock alone decides nothing. A claim without a deadline gets one here.
func (p *Provider) watchLeases(ctx context.Context) {
	now := time.Now()
	ending := p.table.Select(func(c claims.Claim) bool {
		return (c.State == claims.Bound || c.State == claims.Preserved) && !p.podTerminated(c) &&
			(c.Deadline.IsZero() || c.Expired(now.Add(leaseRefresh)))
	})
	if len(ending) == 0 {
		return
	}
	l, err := p.list(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("leases end by the cached deadline; waiting for sandboxd to confirm", "claims", len(ending), "err", err)
		if sandboxd.ClassOf(err) != sandboxd.Unreachable {
			// Once it can be listed again, what has been missing all the time
			// need not be waited for.
			for _, c := range ending {
				_, _ = p.missingSince(ctx, c.ID)
			}
		}
		return
	}
	if err := p.table.ConfirmListed(l.seen()); err != nil {
		klog.FromContext(ctx).V(2).Info("leases read from sandboxd are not in the claims file yet", "err", err)
	}
	for _, c := range ending {
		p.endIfGone(ctx, l, c)
	}
}
