// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/status"
)

// reconcile compares the tracked Pods and the claims with the cache, and repairs what
// neither virtual-kubelet nor an event handled: a lost deletion, another controller, a
// dropped status. Then [Provider.ensureClaims] handles the Pods without a claim.
func (p *Provider) reconcile(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	p.followControllers(ctx)
	for _, t := range p.pods.All() {
		ctx := pods.WithLogger(ctx, t.Pod)
		cached, err := p.lister.Pods(t.Pod.Namespace).Get(t.Pod.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && cached.UID != t.Pod.UID:
			p.reconcileMissing(ctx, t.Pod)
		case err != nil:
			klog.FromContext(ctx).Error(err, "the pod cache cannot be read")
		default:
			p.refuseDebug(t.Pod, cached)
			p.pods.Share(cached)
			if cached.DeletionTimestamp != nil && t.End == nil {
				p.PodChanged(cached)
			}
			p.ensurePublished(t, cached)
		}
	}
	p.ensureClaims(ctx)
}

// ensurePublished publishes the status of a tracked Pod that its newest object lacks.
func (p *Provider) ensurePublished(t pods.Tracked, newest *corev1.Pod) {
	if now, claimID := p.statuses.Status(t); !status.Published(newest, now, claimID) {
		p.statuses.Enqueue(podcontract.Key(newest))
	}
}

// followControllers records the current controllers of live Pods in their claims.
func (p *Provider) followControllers(ctx context.Context) {
	moved := p.table.Select(func(c claims.Claim) bool {
		pod := p.pods.CachedHolder(c)
		return pod != nil && pod.DeletionTimestamp == nil && c.State != claims.Tentative && !c.ControlledAs(pods.HolderOf(pod))
	})
	for _, c := range moved {
		p.followController(ctx, c.Key)
	}
}

func (p *Provider) followController(ctx context.Context, key string) {
	defer p.pods.Lock(key)()
	c, held := p.table.Get(key)
	if !held {
		return
	}
	if pod := p.pods.CachedHolder(c); pod != nil && pod.DeletionTimestamp == nil {
		p.binder.Follow(pods.WithLogger(ctx, pod), pod, c)
	}
}

// reconcileMissing decides the claim of a Pod that is not in the cache, or whose name
// there belongs to another Pod.
func (p *Provider) reconcileMissing(ctx context.Context, pod *corev1.Pod) {
	defer p.pods.Lock(podcontract.Key(pod))()
	t, ok := p.pods.Get(podcontract.Key(pod))
	if !ok || t.Pod.UID != pod.UID {
		return
	}
	if cached, err := p.lister.Pods(pod.Namespace).Get(pod.Name); err == nil && cached.UID == pod.UID || err != nil && !apierrors.IsNotFound(err) {
		return
	}
	err := p.deletions.FinishDelete(ctx, t.Pod)
	switch {
	case err == nil:
		klog.FromContext(ctx).V(2).Info("decided the claim of a pod that vanished without a deletion being seen")
	case t.Waiting != err.Error():
		p.pods.MarkWaiting(podcontract.Key(pod), err.Error())
		klog.FromContext(ctx).Error(err, "the claim of a vanished pod is not decided yet; trying again")
	}
}
