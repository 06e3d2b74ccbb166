// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// UpdatePod records the newest object of a Pod: a running sandbox does not
// change (Pod contract). A Pod that is not served yet, because its claim was
// stranded or because it took an older Pod's name, is served as by CreatePod.
//
// An error would make virtual-kubelet take a running Pod for failed, so there
// is none for a Pod that holds its claim.
func (p *Provider) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	defer p.keys.lock(key)()
	if t, ok := p.pods.get(key); ok && t.pod.UID == pod.UID {
		c, held := p.table.Get(key)
		if t.end != nil || (held && c.PodUID == pod.UID && c.State != claims.Tentative && c.Durable) {
			p.pods.track(pod)
			p.touch(key)
			return nil
		}
	}
	return p.serve(podContext(ctx, pod), pod)
}
