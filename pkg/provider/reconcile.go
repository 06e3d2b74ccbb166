// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// reconcile compares the Pods being served, and the claims, with the cache, and
// repairs what neither virtual-kubelet nor an event did: a deletion that reached
// nobody, another controller, a status that was dropped. Pods that are not served
// are those of [Provider.ensureServed].
func (p *Provider) reconcile(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	p.followControllers(ctx)
	for _, t := range p.pods.all() {
		ctx := podContext(ctx, t.pod)
		cached, err := p.lister.Pods(t.pod.Namespace).Get(t.pod.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && cached.UID != t.pod.UID:
			p.reconcileMissing(ctx, t.pod)
		case err != nil:
			klog.FromContext(ctx).Error(err, "the pod cache cannot be read")
		default:
			p.pods.share(cached)
			if cached.DeletionTimestamp != nil && t.end == nil {
				p.PodChanged(cached)
			}
			status, claimID := p.status(t)
			if !published(cached, status, claimID) {
				p.touch(podcontract.Key(t.pod))
			}
		}
	}
	p.ensureServed(ctx)
}

// followControllers brings the claims of live Pods in line with who controls them.
func (p *Provider) followControllers(ctx context.Context) {
	moved := p.table.Select(func(c claims.Claim) bool {
		pod := p.holderInCache(c)
		return pod != nil && pod.DeletionTimestamp == nil && c.State != claims.Tentative && !c.ControlledAs(holderOf(pod))
	})
	for _, c := range moved {
		p.followController(ctx, c.Key)
	}
}

func (p *Provider) followController(ctx context.Context, key string) {
	defer p.keys.lock(key)()
	c, held := p.table.Get(key)
	if !held {
		return
	}
	if pod := p.holderInCache(c); pod != nil && pod.DeletionTimestamp == nil {
		p.follow(podContext(ctx, pod), pod, c)
	}
}

// reconcileMissing decides over a Pod that the cache lacks, or has another Pod for
// under its name.
func (p *Provider) reconcileMissing(ctx context.Context, pod *corev1.Pod) {
	defer p.keys.lock(podcontract.Key(pod))()
	t, ok := p.pods.get(podcontract.Key(pod))
	if !ok || t.pod.UID != pod.UID {
		return
	}
	if cached, err := p.lister.Pods(pod.Namespace).Get(pod.Name); err == nil && cached.UID == pod.UID || err != nil && !apierrors.IsNotFound(err) {
		return
	}
	err := p.finishDelete(ctx, t.pod)
	switch {
	case err == nil:
		klog.FromContext(ctx).V(2).Info("decided over a pod that vanished without a deletion being seen")
	case t.waiting != err.Error():
		p.pods.wait(podcontract.Key(pod), err.Error())
		klog.FromContext(ctx).Error(err, "a pod that vanished is not decided yet; trying again")
	}
}

// published reports whether the API shows what this provider says of the Pod. What
// others own is not compared. The conditions are: while the node cannot be reached,
// the node lifecycle controller says of all its Pods that they are not ready, and
// leaves it to the node to say otherwise.
func published(api *corev1.Pod, ours corev1.PodStatus, claimID string) bool {
	if !says(ours) {
		return true
	}
	return api.Status.Phase == ours.Phase &&
		api.Status.Reason == ours.Reason &&
		api.Status.PodIP == ours.PodIP &&
		(claimID == "" || api.Annotations[podcontract.AnnotationClaimID] == claimID) &&
		equality.Semantic.DeepEqual(api.Status.ContainerStatuses, ours.ContainerStatuses) &&
		!slices.ContainsFunc(ours.Conditions, func(c corev1.PodCondition) bool { return !hasCondition(api, c.Type, c.Status) })
}

func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == status })
}
