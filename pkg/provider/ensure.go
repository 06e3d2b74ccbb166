// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/binding"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// maxAttempts bounds concurrent attempts. They run outside the loop that starts them, so
// that an attempt waiting for sandboxd does not delay the confirmation of other claims.
const maxAttempts = 32

// ensureClaims starts an attempt for each due Pod of the node that has no claim, whether
// or not virtual-kubelet knows the Pod. Each Pod is tried again within [attempts.Longest]
// until it has a claim or has ended.
func (p *Provider) ensureClaims(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	pods, err := p.lister.List(labels.Everything())
	if err != nil {
		klog.FromContext(ctx).Error(err, "the pod cache cannot be read")
		return
	}
	now, later := time.Now(), 0
	for _, pod := range pods {
		key := podcontract.Key(pod)
		if !p.needsClaim(pod) {
			continue
		}
		_, tracked := p.pods.Get(key)
		c, held := p.table.Get(key)
		if !tracked && (!held || c.PodUID == pod.UID) {
			// virtual-kubelet tries first, except for a Pod that took another's name in
			// an update.
			p.attempts.LeaveToLibrary(key, pod.UID, now)
		}
		if p.attempts.Due(key, pod.UID, now) && !p.running.Start(key, func() { p.attempt(ctx, pod) }) {
			later++
		}
	}
	if later > 0 {
		klog.FromContext(ctx).V(2).Info("pods wait until others have been tried", "pods", later)
	}
}

// needsClaim reports whether the Pod has no valid claim and may get one.
func (p *Provider) needsClaim(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pods.Terminal(pod) {
		return false
	}
	key := podcontract.Key(pod)
	if t, ok := p.pods.Get(key); ok && t.Pod.UID == pod.UID {
		c, held := p.table.Get(key)
		if t.Ended(pod) || held && c.PodUID == pod.UID && c.State == claims.Bound && c.Durable {
			return false
		}
	}
	return !p.pods.Terminated(pod)
}

// attempt tries to give a Pod its claim.
func (p *Provider) attempt(ctx context.Context, pod *corev1.Pod) {
	key := podcontract.Key(pod)
	defer p.pods.Lock(key)()
	newest, now := p.pods.Cached(key, pod.UID), time.Now()
	if newest == nil || !p.needsClaim(newest) || !p.attempts.Due(key, pod.UID, now) {
		return
	}
	ctx = pods.WithLogger(ctx, newest)
	err := p.binder.EnsureClaim(ctx, newest)
	switch {
	case err == nil:
		p.attempts.Forget(key)
		p.statuses.Enqueue(key)
	case errors.Is(err, binding.ErrAwaitingNode):
		p.attempts.Awaiting(key, pod.UID, now)
		p.pods.Track(newest)
	default:
		p.attempts.Failed(key, pod.UID, now)
		t, known := p.pods.Get(key)
		p.pods.Track(newest)
		p.pods.MarkWaiting(key, err.Error())
		if known && t.Pod.UID == newest.UID && t.Waiting == err.Error() {
			return // nothing has changed
		}
		klog.FromContext(ctx).Info("pod waits for a claim", "err", err)
		p.events.Refused(newest, err)
		p.statuses.Enqueue(key)
	}
}
