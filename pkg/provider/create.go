// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/binding"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// CreatePod gives a Pod its claim: the one that it already holds, one that its authority
// left, or a new one. It returns nil if the Pod has its claim, has ended, or is tracked
// until sandboxd answers. On error the Pod has no claim, and virtual-kubelet tries again.
func (p *Provider) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	defer p.pods.Lock(key)()
	err := p.ensureClaim(pods.WithLogger(ctx, pod), pod)
	p.attempts.ByLibrary(key, pod.UID, err, time.Now())
	return err
}

// ensureClaim is CreatePod with the key locked.
func (p *Provider) ensureClaim(ctx context.Context, pod *corev1.Pod) error {
	if p.pods.Terminated(pod) {
		// A terminal status never changes, so the Pod cannot use a claim.
		return nil
	}
	err := p.binder.EnsureClaim(ctx, pod)
	if errors.Is(err, binding.ErrAwaitingNode) {
		// On an error virtual-kubelet would overwrite the status of a Pod that is
		// probably running. The status stays as it is until sandboxd has answered.
		klog.FromContext(ctx).Info("pod waits for sandboxd to answer for its claim")
		p.pods.Track(pod)
		return nil
	}
	if err != nil {
		if c, held := p.table.Get(podcontract.Key(pod)); !held || c.State != claims.Tentative {
			p.pods.Drop(podcontract.Key(pod))
		}
		p.events.Refused(pod, err)
		return err
	}
	p.statuses.Enqueue(podcontract.Key(pod))
	return nil
}
