// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// endIfGone ends what a claim serves once its sandbox is confirmed gone. A claim
// that could only be missing yet is looked at again with the next listing.
func (p *Provider) endIfGone(ctx context.Context, l listing, c claims.Claim) {
	if gone, err := p.confirmGoneIn(ctx, l, c); err == nil && gone {
		p.sandboxGone(ctx, c)
	}
}

// sandboxGone acts on a sandbox that the node surely no longer holds. The Pod
// that holds the claim ends, if it is still that Pod's: the key may have
// changed hands behind the listing. Its row stays for its teardown, so that a
// restart cannot take the Pod for one that never had a sandbox. Without a Pod to
// end, the row is dropped once its lease and a margin are over: a credential that
// nobody needs costs nothing, and one that is missing cannot be had back.
func (p *Provider) sandboxGone(ctx context.Context, seen claims.Claim) {
	defer p.keys.lock(seen.Key)()
	c, ok := p.table.Get(seen.Key)
	if !ok || c.ID != seen.ID {
		return
	}
	now := time.Now()
	t, ok := p.pods.get(c.Key)
	switch {
	case ok && t.pod.UID == c.PodUID && !p.hasNoPod(c):
		if t.end == nil {
			p.endPod(podContext(ctx, t.pod), c)
		}
	case p.podsSynced() && p.hasNoPod(c) && now.After(c.LeaseEnd().Add(leaseMargin)) && now.Sub(p.absences.note(c.ID, now)) >= lostSpan:
		reason, message := whyGone(c)
		klog.FromContext(ctx).Info("dropped a claim: no pod holds it and the node no longer has its sandbox", "key", c.Key, "claim", c.ID, "reason", reason)
		p.record(subjectOfClaim(c), corev1.EventTypeWarning, reason, message)
		p.forget(ctx, c)
	}
}

// endPod makes the tracked Pod terminal and publishes it.
func (p *Provider) endPod(ctx context.Context, c claims.Claim) {
	e := ending{binding: binding(c), at: time.Now()}
	e.reason, e.message = whyGone(c)
	p.pods.end(c.Key, e)
	klog.FromContext(ctx).Info("pod ended: "+e.message, "claim", c.ID, "reason", e.reason, "deadline", c.Deadline)
	p.record(subjectOfClaim(c), corev1.EventTypeWarning, e.reason, e.message)
	p.touch(c.Key)
}

// whyGone tells a lease that ended from a sandbox that was lost before.
func whyGone(c claims.Claim) (reason, message string) {
	if c.Expired(time.Now()) {
		return podcontract.ReasonLeaseExpired, messageLeaseExpired
	}
	return podcontract.ReasonLost, messageLost
}

const (
	messageLeaseExpired = "the lease of the sandbox ended and the node has destroyed it"
	messageLost         = "the node no longer holds the sandbox that this pod ran on"
)
