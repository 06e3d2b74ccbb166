// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// verify checks the reloaded table against the node: what the node lists leaves
// quarantine, what it surely no longer holds ends its Pod or is dropped, and a
// listing that fails changes nothing. It does not depend on the orphan scan, and
// has nothing to do once the table is verified (architecture, "Claims table
// persistence"). Then it starts an attempt for the Pods that are not served, and
// waits for none of them.
func (p *Provider) verify(ctx context.Context) {
	if quarantined := p.quarantined(); len(quarantined) > 0 {
		l, err := p.list(ctx)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("claims stay quarantined until sandboxd lists its sandboxes", "claims", len(quarantined), "err", err)
			return
		}
		if err := p.table.ConfirmListed(l.seen()); err != nil {
			klog.FromContext(ctx).V(2).Info("leases read from sandboxd are not in the claims file yet", "err", err)
		}
		for _, c := range quarantined {
			if !p.hasNoPod(c) || c.Expired(time.Now()) {
				p.endIfGone(ctx, l, c)
			}
		}
		if left := len(p.quarantined()); left < len(quarantined) {
			klog.FromContext(ctx).Info("checked the claims table against sandboxd", "checked", len(quarantined), "stillQuarantined", left)
		}
	}
	p.ensureServed(ctx)
}

// quarantined is the claims that wait for the node's answer, without those whose
// Pod has ended already.
func (p *Provider) quarantined() []claims.Claim {
	return p.table.Select(func(c claims.Claim) bool { return c.State == claims.Quarantined && !p.podTerminated(c) })
}
