// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
)

// GetPod returns the Pod with its synthetic status, from memory. If the cache already has
// a successor of the same name, the Pod is not found: given the older Pod,
// virtual-kubelet would assume that the new one has been created.
func (p *Provider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	t, ok := p.pods.Get(namespace + "/" + name)
	if !ok {
		return nil, errdefs.NotFoundf("pod %s/%s is not served by this node", namespace, name)
	}
	if current, err := p.lister.Pods(namespace).Get(name); err == nil && current.UID != t.Pod.UID {
		return nil, errdefs.NotFoundf("pod %s/%s of that generation is not served by this node", namespace, name)
	}
	return p.statuses.View(t), nil
}

// GetPodStatus returns the synthetic status of a Pod, from memory.
func (p *Provider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

// GetPods returns every tracked Pod, from memory.
func (p *Provider) GetPods(context.Context) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	for _, t := range p.pods.All() {
		out = append(out, p.statuses.View(t))
	}
	return out, nil
}

// NotifyPods implements virtual-kubelet's PodNotifier. publish is called from
// [Provider.Run] whenever a Pod's status may have changed.
func (p *Provider) NotifyPods(_ context.Context, publish func(*corev1.Pod)) {
	p.statuses.PublishTo(publish)
}
