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
// leaves quarantine, what it surely no longer holds ends its Pod or is dropped,
// and a listing that fails changes nothing. Then the Pods that waited for an answer are
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
			klog.FromContext(ctx).V(2).Info("leases read from sandboxd are not in the claims file yet", "err", err)
		}
		for _, c := range quarantined {
			if gone, err := p.confirmGoneIn(ctx, l, c.ID); err == nil && gone {
				p.sandboxGone(ctx, c)
			}
		}
		if left := len(p.quarantined()); left < len(quarantined) {
			klog.FromContext(ctx).Info("checked the claims table against sandboxd", "checked", len(quarantined), "stillQuarantined", left)
		}
	}
	p.serveWaiting(ctx)
}

// quarantined is the claims that wait for the node's word, without those whose
// Pod is over already.
func (p *Provider) quarantined() []claims.Claim {
	return p.table.Select(func(c claims.Claim) bool { return c.State == claims.Quarantined && !p.over(c) })
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

// waits reports whether the Pod is to be served by [Provider.serveWaiting].
func (p *Provider) waits(t tracked) bool {
	if t.end != nil {
		return false
	}
	c, held := p.table.Get(podcontract.Key(t.pod))
	if !held || c.PodUID != t.pod.UID {
		return true
	}
	return c.State != claims.Bound || !c.Durable
}

func (p *Provider) serveWaitingPod(ctx context.Context, key string) {
	defer p.keys.lock(key)()
	t, ok := p.pods.get(key)
	if !ok || !p.waits(t) {
		return
	}
	pod, err := p.lister.Pods(t.pod.Namespace).Get(t.pod.Name)
	if err != nil || pod.UID != t.pod.UID || pod.DeletionTimestamp != nil || terminal(pod) {
		return // it is on its way out
	}
	ctx = podContext(ctx, pod)
	err = p.serveClaim(ctx, pod)
	switch {
	case err == nil:
		p.touch(key)
	case errors.Is(err, errAwaitingNode):
	default:
		p.pods.wait(key, err.Error())
		if t.waiting == err.Error() {
			return // told already
		}
		klog.FromContext(ctx).Info("pod waits for a claim", "err", err)
		p.recordRefused(pod, err)
		p.touch(key)
	}
}
