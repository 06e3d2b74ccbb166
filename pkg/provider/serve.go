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
)

// servesAtOnce bounds the attempts that run side by side. They run beside the loop
// that starts them: one that waits for sandboxd must not keep others from being
// confirmed.
const servesAtOnce = 32

// ensureServed starts an attempt for each Pod of the node that is not served,
// whatever virtual-kubelet was told of it and whether it knows of it at all, and
// that is due. Each Pod is tried again within attemptMost until it is served or
// has ended.
func (p *Provider) ensureServed(ctx context.Context) {
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
		if !p.unserved(pod) {
			continue
		}
		_, tracked := p.pods.get(key)
		c, held := p.table.Get(key)
		if !tracked && (!held || c.PodUID == pod.UID) {
			// virtual-kubelet has the first turn. It has none where the Pod took
			// another's name in an update.
			p.attempts.expect(key, pod.UID, now)
		}
		if p.attempts.due(key, pod.UID, now) && !p.serving.start(key, func() { p.attempt(ctx, pod) }) {
			later++
		}
	}
	if later > 0 {
		klog.FromContext(ctx).V(2).Info("pods wait until others have been tried", "pods", later)
	}
}

// unserved reports whether the Pod has no claim that counts, and may have one.
func (p *Provider) unserved(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || terminal(pod) {
		return false
	}
	key := podcontract.Key(pod)
	if t, ok := p.pods.get(key); ok && t.pod.UID == pod.UID {
		c, held := p.table.Get(key)
		if t.ended(pod) || held && c.PodUID == pod.UID && c.State == claims.Bound && c.Durable {
			return false
		}
	}
	return !p.terminated(pod)
}

// attempt tries to serve a Pod.
func (p *Provider) attempt(ctx context.Context, pod *corev1.Pod) {
	key := podcontract.Key(pod)
	defer p.keys.lock(key)()
	newest, now := p.cachedPod(key, pod.UID), time.Now()
	if newest == nil || !p.unserved(newest) || !p.attempts.due(key, pod.UID, now) {
		return
	}
	ctx = podContext(ctx, newest)
	err := p.serveClaim(ctx, newest)
	switch {
	case err == nil:
		p.attempts.forget(key)
		p.touch(key)
	case errors.Is(err, errAwaitingNode):
		p.attempts.awaiting(key, pod.UID, now)
		p.pods.track(newest)
	default:
		p.attempts.failed(key, pod.UID, now)
		t, known := p.pods.get(key)
		p.pods.track(newest)
		p.pods.wait(key, err.Error())
		if known && t.pod.UID == newest.UID && t.waiting == err.Error() {
			return // nothing has changed
		}
		klog.FromContext(ctx).Info("pod waits for a claim", "err", err)
		p.recordRefused(newest, err)
		p.touch(key)
	}
}
