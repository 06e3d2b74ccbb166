// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// Pods returns next with what is asked for Pods counted and measured. Reads
// are not: they are answered from memory.
func (m *Metrics) Pods(next virtualnode.Provider) virtualnode.Provider {
	return &countedPods{Provider: next, metrics: m}
}

type countedPods struct {
	virtualnode.Provider
	metrics *Metrics
}

func (p *countedPods) count(verb string, pod *corev1.Pod, do func(*corev1.Pod) error) error {
	start := time.Now()
	err := do(pod)
	p.metrics.podDuration.WithLabelValues(verb).Observe(time.Since(start).Seconds())
	p.metrics.podOperations.WithLabelValues(verb, resultOf(err)).Inc()
	return err
}

// CreatePod implements virtual-kubelet's PodLifecycleHandler.
func (p *countedPods) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	return p.count(verbCreate, pod, func(pod *corev1.Pod) error { return p.Provider.CreatePod(ctx, pod) })
}

// UpdatePod implements virtual-kubelet's PodLifecycleHandler.
func (p *countedPods) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	return p.count(verbUpdate, pod, func(pod *corev1.Pod) error { return p.Provider.UpdatePod(ctx, pod) })
}

// DeletePod implements virtual-kubelet's PodLifecycleHandler.
func (p *countedPods) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	return p.count(verbDelete, pod, func(pod *corev1.Pod) error { return p.Provider.DeletePod(ctx, pod) })
}
