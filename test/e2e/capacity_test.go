// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestNoCapacity sets the capacity of all hosts to zero, so it runs alone.
func TestNoCapacity(t *testing.T) {
	f := newFixture(t)
	setCapacity(t, f.suite, -1)

	f.createSandbox(newPod("box"))
	f.waitPod("box", "Pending for want of capacity", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodPending && strings.Contains(pod.Status.Message, "no warm capacity")
	})
	f.warning("box", "no warm capacity")

	// Under Never, virtual-kubelet marks the Pod Failed and stops (Pod contract).
	never := newPod("never")
	never.Spec.RestartPolicy = corev1.RestartPolicyNever
	f.createPod(never)
	f.waitPod("never", "Failed for want of capacity", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed && strings.Contains(pod.Status.Message, "no warm capacity")
	})

	if r := f.history("box"); len(r.claims) != 0 {
		t.Fatalf("claimed %v without capacity", r.claims)
	}
	setCapacity(t, f.suite, 0)
	running := f.waitRunning("box")
	if running.Status.Reason != "" || running.Status.Message != "" {
		t.Errorf("reason %q, message %q are left from when it was Pending", running.Status.Reason, running.Status.Message)
	}
	if r := f.history("box"); len(r.claims) != 1 {
		t.Errorf("claimed %v, want one claim", r.claims)
	}
}
