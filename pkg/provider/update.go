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

// UpdatePod records the newest object of a Pod, and who controls it now: a running
// sandbox does not change (Pod contract). A Pod that is not served yet, because
// its claim could not be recorded or because it took an older Pod's name, is
// served as by CreatePod.
//
// An error would make virtual-kubelet take a running Pod for failed, so there
// is none for a Pod that holds its claim.
func (p *Provider) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	defer p.keys.lock(key)()
	ctx = podContext(ctx, pod)
	if t, ok := p.pods.get(key); ok && t.pod.UID == pod.UID {
		c, held := p.table.Get(key)
		held = held && c.PodUID == pod.UID && c.State != claims.Tentative && c.Durable
		if held {
			p.follow(ctx, pod, c)
		}
		if t.ended(pod) || held && c.State != claims.Preserved {
			p.pods.track(pod)
			p.touch(key)
			return nil
		}
	}
	err := p.serve(ctx, pod)
	p.attempts.byLibrary(key, pod.UID, err, time.Now())
	return err
}

// follow records who controls the Pod now, where the table names another: a
// controller can adopt a Pod, hand it on or let go of it while the Pod runs, and
// the verdict over the sandbox has to be that of the present one. The caller holds
// the key.
func (p *Provider) follow(ctx context.Context, pod *corev1.Pod, c claims.Claim) {
	holder := p.holder(pod)
	if c.PodUID != pod.UID || c.State == claims.Tentative || c.ControlledAs(holder) {
		return
	}
	logger := klog.FromContext(ctx).WithValues("claim", c.ID, "previous", ownerName(c.Controller), "controller", ownerName(holder.Controller))
	if err := p.table.Follow(c.Key, c.ID, holder); err != nil {
		logger.Error(err, "the pod's new controller is not in the claims file yet; it is written again later")
		return
	}
	logger.Info("the pod has another controller")
}

// ownerName names an owner in a log line.
func ownerName(o *claims.Owner) string {
	if o == nil {
		return "none"
	}
	return o.Kind + "/" + o.Name + " " + string(o.UID)
}
