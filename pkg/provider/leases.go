// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// watchLeases looks at the claims whose cached lease has passed. A sandbox
// that the node still lists has its lease refreshed; one that is surely gone
// ends its Pod; a node that cannot be listed defers (architecture, "Leases").
// The clock alone decides nothing.
func (p *Provider) watchLeases(ctx context.Context) {
	now := time.Now()
	expired := p.table.Select(func(c claims.Claim) bool {
		return (c.State == claims.Bound || c.State == claims.Preserved) && c.Expired(now) && !p.over(c)
	})
	if len(expired) == 0 {
		return
	}
	l, err := p.list(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("leases have passed by the cached deadline; waiting for sandboxd to confirm", "claims", len(expired), "err", err)
		return
	}
	if err := p.table.Vouch(l.seen()); err != nil {
		klog.FromContext(ctx).V(2).Info("leases read from sandboxd are not in the claims file yet", "err", err)
	}
	for _, c := range expired {
		if gone, err := p.confirmGoneIn(ctx, l, c.ID); err == nil && gone {
			p.sandboxGone(ctx, c)
		}
	}
}
