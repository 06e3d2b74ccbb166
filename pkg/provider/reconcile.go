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

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// reconcile compares the Pods being served with the cache, and repairs what
// virtual-kubelet does not: a deletion that reached it as a tombstone, a
// successor that arrived as an update of its predecessor, a status that was
// dropped.
func (p *Provider) reconcile(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	for _, t := range p.pods.all() {
		ctx := podContext(ctx, t.pod)
		cached, err := p.lister.Pods(t.pod.Namespace).Get(t.pod.Name)
		switch {
		case apierrors.IsNotFound(err):
			p.settleVanished(ctx, t.pod)
		case err != nil:
			klog.FromContext(ctx).Error(err, "the pod cache cannot be read")
		case cached.UID != t.pod.UID:
			p.serveSuccessor(ctx, cached)
		default:
			p.pods.share(cached)
			status, claimID := p.status(t)
			if !published(cached, status, claimID) {
				p.touch(podcontract.Key(t.pod))
			}
		}
	}
}

// settleVanished gives a Pod that the cache lacks the verdict of a deletion.
// The owner is read either way, so a cache that is merely behind preserves.
func (p *Provider) settleVanished(ctx context.Context, pod *corev1.Pod) {
	defer p.keys.lock(podcontract.Key(pod))()
	t, ok := p.pods.get(podcontract.Key(pod))
	if !ok || t.pod.UID != pod.UID {
		return
	}
	if _, err := p.lister.Pods(pod.Namespace).Get(pod.Name); !apierrors.IsNotFound(err) {
		return
	}
	err := p.settle(ctx, t.pod)
	switch {
	case err == nil:
		klog.FromContext(ctx).Info("settled a pod that vanished without a deletion being seen")
	case t.waiting != err.Error():
		p.pods.wait(podcontract.Key(pod), err.Error())
		klog.FromContext(ctx).Error(err, "a pod that vanished is not settled yet; trying again")
	}
}

// serveSuccessor serves a Pod that took a served Pod's name.
func (p *Provider) serveSuccessor(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil || terminal(pod) {
		return
	}
	if err := p.UpdatePod(ctx, pod); err != nil {
		klog.FromContext(ctx).Error(err, "the successor of a served pod has no claim yet; trying again", "successorUID", pod.UID)
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
