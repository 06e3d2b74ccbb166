// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// watchLeases looks at the claims whose cached lease has passed. A sandbox
// that the node still lists has its lease refreshed; one that is surely gone
// ends its Pod; a node that cannot be listed defers (architecture, "Leases").
// The clock alone decides nothing.
func (p *Provider) watchLeases(ctx context.Context) {
	var expired []claims.Claim
	for _, c := range p.table.List() {
		if (c.State == claims.Bound || c.State == claims.Preserved) && c.Expired(time.Now()) {
			expired = append(expired, c)
		}
	}
	if len(expired) == 0 {
		return
	}
	l, err := p.list(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("leases have passed by the cached deadline; waiting for sandboxd to confirm", "claims", len(expired), "err", err)
		return
	}
	if err := p.table.Vouch(l.seen()); err != nil {
		klog.FromContext(ctx).Error(err, "leases read from sandboxd are not in the claims file yet")
	}
	for _, c := range expired {
		if gone, err := p.confirmGoneIn(ctx, l, c.ID); err == nil && gone {
			p.leaseOver(ctx, c)
		}
	}
}

// leaseOver ends the Pod of a claim whose sandbox is gone, if the claim is
// still that Pod's: the key may have changed hands behind the listing. The row
// stays for the Pod's teardown. Without a Pod to end, the row is dropped.
func (p *Provider) leaseOver(ctx context.Context, seen claims.Claim) {
	defer p.keys.lock(seen.Key)()
	c, ok := p.table.Get(seen.Key)
	if !ok || c.ID != seen.ID || !c.Expired(time.Now()) {
		return
	}
	t, ok := p.pods.get(c.Key)
	switch {
	case ok && t.pod.UID == c.PodUID:
		if t.end == nil {
			p.endPod(podContext(ctx, t.pod), c, podcontract.ReasonLeaseExpired, messageLeaseExpired)
		}
	case p.podsSynced() && !p.cached(c):
		klog.FromContext(ctx).Info("dropped a claim: its lease has passed and the node has destroyed its sandbox", "key", c.Key, "claim", c.ID)
		p.forget(ctx, c)
	}
}

// endPod makes the tracked Pod terminal and publishes it.
func (p *Provider) endPod(ctx context.Context, c claims.Claim, reason, message string) {
	p.pods.end(c.Key, ending{binding: binding(c), reason: reason, message: message, at: time.Now()})
	klog.FromContext(ctx).Info("pod ended: "+message, "claim", c.ID, "reason", reason, "deadline", c.Deadline)
	p.touch(c.Key)
}
