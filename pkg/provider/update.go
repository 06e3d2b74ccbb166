// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// UpdatePod records the newest object of a Pod and its current controller. A running
// sandbox does not change. A Pod without a claim, because its claim could not be recorded
// or because it took an older Pod's name, gets one as in CreatePod.
//
// UpdatePod returns no error for a Pod that holds its claim, because virtual-kubelet
// would treat the running Pod as failed.
func (p *Provider) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	defer p.pods.Lock(key)()
	ctx = pods.WithLogger(ctx, pod)
	if t, ok := p.pods.Get(key); ok && t.Pod.UID == pod.UID {
		p.refuseDebug(t.Pod, pod)
		c, held := p.table.Get(key)
		held = held && c.PodUID == pod.UID && c.State != claims.Tentative && c.Durable
		if held {
			p.binder.Follow(ctx, pod, c)
		}
		if t.Ended(pod) || held && c.State != claims.Preserved {
			p.pods.Track(pod)
			p.statuses.Enqueue(key)
			return nil
		}
	}
	err := p.ensureClaim(ctx, pod)
	p.attempts.ByLibrary(key, pod.UID, err, time.Now())
	return err
}

// refuseDebug records that a debug container which the newer object of a Pod has, and the
// older one lacks, is not run. The status of the container says so too.
func (p *Provider) refuseDebug(older, newer *corev1.Pod) {
	if len(newer.Spec.EphemeralContainers) > len(older.Spec.EphemeralContainers) {
		p.events.DebugRefused(newer)
	}
}
