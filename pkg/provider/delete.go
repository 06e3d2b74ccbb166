// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// DeletePod decides what happens to the claim of a Pod that is deleted or has vanished.
// The deletion itself authorizes nothing: only the state of the Pod's owner releases the
// sandbox. Nil means decided: released, kept for the owner with the credential in the
// table, or left to the owner check because nobody saw the deletion. On error the Pod and
// the credential are kept, and virtual-kubelet tries again. The deletion of an older Pod
// of the same name is ignored.
func (p *Provider) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	defer p.pods.Lock(podcontract.Key(pod))()
	return p.deletions.FinishDelete(pods.WithLogger(ctx, pod), pod)
}
