// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// template is a template with a warm pool in the simulator.
const template = "ghcr.io/cocoonstack/sandbox/rt:24.04"

// newPod returns a sandbox Pod that follows the Pod contract.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Annotations: map[string]string{
				podcontract.AnnotationRuntime:  podcontract.RuntimeSandboxd,
				podcontract.AnnotationTemplate: template,
			},
		},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{podcontract.LabelRuntime: podcontract.RuntimeSandboxd},
			Tolerations: []corev1.Toleration{{
				Key: podcontract.TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
			}},
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "agent", Image: template}},
		},
	}
}

// newOwnedPod returns the Pod that the controller would create for the Sandbox.
func newOwnedPod(owner *unstructured.Unstructured) *corev1.Pod {
	pod := newPod(owner.GetName())
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
	return pod
}

func (f *fixture) createSandbox(name string) *unstructured.Unstructured {
	f.t.Helper()
	sandbox := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": sandboxes.GroupVersion().String(), "kind": "Sandbox",
		"metadata": map[string]any{"name": name},
	}}
	created, err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Create(f.t.Context(), sandbox, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return created
}

func (f *fixture) deleteSandbox(name string) {
	f.t.Helper()
	background := metav1.DeletePropagationBackground
	err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		f.t.Fatal(err)
	}
}

// createPod creates the Pod on the first host unless it selects one. A preserved VM can
// only be adopted on its own host.
func (f *fixture) createPod(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	if pod.Spec.NodeSelector[corev1.LabelHostname] == "" {
		pod.Spec.NodeSelector[corev1.LabelHostname] = f.info.Hosts[0].VirtualNode()
	}
	created, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return created
}

func (f *fixture) deletePod(name string, options metav1.DeleteOptions) {
	f.t.Helper()
	if err := f.client.CoreV1().Pods(f.namespace).Delete(f.t.Context(), name, options); err != nil {
		f.t.Fatal(err)
	}
}

// run creates the Pod, waits until it is Running, and returns its claim's id.
func (f *fixture) run(pod *corev1.Pod) (claimID string) {
	f.t.Helper()
	f.createPod(pod)
	return f.waitRunning(pod.Name).Annotations[podcontract.AnnotationClaimID]
}

// runAndDelete runs the Pod, deletes it and waits for its end. It returns its claim's id.
func (f *fixture) runAndDelete(pod *corev1.Pod) (claimID string) {
	f.t.Helper()
	id := f.run(pod)
	f.deletePod(pod.Name, metav1.DeleteOptions{})
	f.waitGone(pod.Name)
	return id
}

// waitRunning waits until the Pod is Running and has its claim's id.
func (f *fixture) waitRunning(name string) *corev1.Pod {
	f.t.Helper()
	return f.waitPod(name, "Running with a claim id", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && pod.Annotations[podcontract.AnnotationClaimID] != ""
	})
}

func (f *fixture) waitPod(name, what string, is func(*corev1.Pod) bool) (pod *corev1.Pod) {
	f.t.Helper()
	eventually(f.t, "Pod "+name, func(ctx context.Context) (err error) {
		pod, err = f.client.CoreV1().Pods(f.namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !is(pod) {
			err = fmt.Errorf("it is not %s: phase %s, reason %q, message %q, annotations %v",
				what, pod.Status.Phase, pod.Status.Reason, pod.Status.Message, pod.Annotations)
		}
		return err
	})
	return pod
}
