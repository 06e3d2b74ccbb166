// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// verify checks the reloaded table against the node: what the node lists
// leaves quarantine, what it surely no longer holds is dropped, and a listing
// that fails changes nothing. Then the Pods that waited for an answer are
// served. It does not depend on the orphan scan, and has nothing to do once
// the table is verified (architecture, "Claims table persistence").
func (p *Provider) verify(ctx context.Context) {
	if quarantined := p.quarantined(); len(quarantined) > 0 {
		l, err := p.list(ctx)
		if err != nil {
			klog.FromContext(ctx).V(2).Info("claims stay quarantined until sandboxd lists its sandboxes", "claims", len(quarantined), "err", err)
			return
		}
		if err := p.table.Vouch(l.seen()); err != nil {
			klog.FromContext(ctx).Error(err, "leases read from sandboxd are not in the claims file yet")
		}
		dropped := p.dropGone(ctx, l, quarantined)
		klog.FromContext(ctx).Info("checked the claims table against sandboxd", "checked", len(quarantined), "dropped", dropped, "stillQuarantined", len(p.quarantined()))
	}
	p.serveWaiting(ctx)
}

func (p *Provider) quarantined() []claims.Claim {
	var out []claims.Claim
	for _, c := range p.table.List() {
		if c.State == claims.Quarantined {
			out = append(out, c)
		}
	}
	return out
}

// dropGone drops those of the claims that the node surely no longer holds.
func (p *Provider) dropGone(ctx context.Context, l listing, quarantined []claims.Claim) (dropped int) {
	for _, c := range quarantined {
		gone, err := p.confirmGoneIn(ctx, l, c.ID)
		if err != nil || !gone {
			continue
		}
		func() {
			defer p.keys.lock(c.Key)()
			if now, ok := p.table.Get(c.Key); ok && now.ID == c.ID {
				klog.FromContext(ctx).Info("dropped a claim: the node no longer holds its sandbox", "key", c.Key, "claim", c.ID)
				p.forget(ctx, c)
				dropped++
			}
		}()
	}
	return dropped
}

// serveWaiting serves the tracked Pods that have no claim that counts.
// virtual-kubelet takes them for created and does not come back by itself.
func (p *Provider) serveWaiting(ctx context.Context) {
	for _, t := range p.pods.all() {
		if p.waits(t) {
			p.serveWaitingPod(ctx, podcontract.Key(t.pod))
		}
	}
}

// waits reports whether the Pod is to be served by [Provider.serveWaiting]. A
// tentative claim is not: virtual-kubelet has the error and comes back.
func (p *Provider) waits(t tracked) bool {
	if t.end != nil {
		return false
	}
	c, held := p.table.Get(podcontract.Key(t.pod))
	if !held || c.PodUID != t.pod.UID {
		return true
	}
	return c.State != claims.Bound && c.State != claims.Tentative
}

func (p *Provider) serveWaitingPod(ctx context.Context, key string) {
	defer p.keys.lock(key)()
	t, ok := p.pods.get(key)
	if !ok || !p.waits(t) {
		return
	}
	ctx = podContext(ctx, t.pod)
	err := p.serveClaim(ctx, t.pod)
	switch {
	case err == nil:
		p.touch(key)
	case errors.Is(err, errAwaitingNode):
	case t.waiting != err.Error():
		klog.FromContext(ctx).Info("pod waits for a claim", "err", err)
		p.pods.wait(key, err.Error())
		p.touch(key)
	}
}
