// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	corev1 "k8s.io/api/core/v1"
)

const finalizer = "sim.cocoonstack.io/hold"

// finalized is an option of [API.CreatePod].
func finalized(p *corev1.Pod) { p.Finalizers = []string{finalizer} }

// neverRestarted is an option of [API.CreatePod].
func neverRestarted(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }

// RemoveFinalizers takes a Pod's finalizers away. If nothing else keeps it, the
// Pod goes.
func (a *API) RemoveFinalizers(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.state.pods[key]
	if !ok || len(p.Finalizers) == 0 {
		return
	}
	a.change(key, func(p *corev1.Pod) { p.Finalizers = nil })
	if p.DeletionTimestamp != nil && *p.DeletionGracePeriodSeconds == 0 {
		a.removePod(key)
	}
}

// lingers reports whether a deleted Pod's object is kept by a finalizer.
func lingers(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && len(p.Finalizers) > 0 }

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// notReady reports whether a Pod says of itself that it is not ready.
func notReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
