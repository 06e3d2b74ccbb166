// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
)

// Finalizer is the finalizer of [WithFinalizer].
const Finalizer = "sim.cocoonstack.io/hold"

// WithFinalizer is an option of [API.CreatePod]: the Pod gets [Finalizer].
func WithFinalizer(p *corev1.Pod) { p.Finalizers = []string{Finalizer} }

// NeverRestarted is an option of [API.CreatePod]: the restart policy is Never.
func NeverRestarted(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }

// RemoveFinalizers removes a Pod's finalizers, and the Pod if its deletion waited
// for them.
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

// Lingers reports whether a deleted Pod's object is kept by a finalizer.
func Lingers(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && len(p.Finalizers) > 0 }

// Terminal reports whether a Pod's phase is final.
func Terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// NotReady reports whether a Pod's Ready condition is False.
func NotReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
