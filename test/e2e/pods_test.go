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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

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

// newOwnedPod returns a Pod of the Sandbox that the controller does not create, because it
// has another name.
func newOwnedPod(name string, owner *unstructured.Unstructured) *corev1.Pod {
	pod := newPod(name)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
	return pod
}

// createSandbox creates a Sandbox of the Pod's name and with the Pod as its template. The
// controller creates the Pod.
func (f *fixture) createSandbox(pod *corev1.Pod) *unstructured.Unstructured {
	f.t.Helper()
	sandbox := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": sandboxes.GroupVersion().String(), "kind": "Sandbox",
		"metadata": map[string]any{"name": pod.Name},
		"spec":     map[string]any{"podTemplate": f.podTemplate(pod)},
	}}
	created, err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Create(f.t.Context(), sandbox, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return created
}

// podTemplate is the Pod as the template of a Sandbox.
func (f *fixture) podTemplate(pod *corev1.Pod) map[string]any {
	f.t.Helper()
	f.pin(pod)
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod.Spec)
	if err != nil {
		f.t.Fatal(err)
	}
	metadata := map[string]any{}
	for field, values := range map[string]map[string]string{"labels": pod.Labels, "annotations": pod.Annotations} {
		if err := unstructured.SetNestedStringMap(metadata, values, field); err != nil {
			f.t.Fatal(err)
		}
	}
	return map[string]any{"metadata": metadata, "spec": spec}
}

// patchSandbox merges a patch into the Sandbox.
func (f *fixture) patchSandbox(name, patch string) {
	f.t.Helper()
	_, err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Patch(f.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) deleteSandbox(name string) {
	f.t.Helper()
	background := metav1.DeletePropagationBackground
	err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Delete(f.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		f.t.Fatal(err)
	}
}

// runSandbox creates the Sandbox of the Pod, waits until the Pod is Running, and returns
// its claim's id.
func (f *fixture) runSandbox(pod *corev1.Pod) (claimID string) {
	f.t.Helper()
	f.createSandbox(pod)
	return f.claimOf(pod.Name)
}

// suspend suspends the Sandbox and waits for its Pod's end.
func (f *fixture) suspend(name string) {
	f.t.Helper()
	f.patchSandbox(name, `{"spec": {"operatingMode": "Suspended"}}`)
	f.waitGone(name)
}

// resume resumes the Sandbox, waits until its new Pod is Running, and returns its claim's
// id.
func (f *fixture) resume(name string) (claimID string) {
	f.t.Helper()
	f.startResume(name)
	return f.claimOf(name)
}

func (f *fixture) startResume(name string) {
	f.t.Helper()
	f.patchSandbox(name, `{"spec": {"operatingMode": "Running"}}`)
}

// runAndSuspend runs the Sandbox of the Pod and suspends it. It returns its claim's id.
func (f *fixture) runAndSuspend(pod *corev1.Pod) (claimID string) {
	f.t.Helper()
	id := f.runSandbox(pod)
	f.suspend(pod.Name)
	return id
}

// pin selects the first host for a Pod that selects none. A preserved VM can only be
// adopted on its own host.
func (f *fixture) pin(pod *corev1.Pod) {
	if pod.Spec.NodeSelector[corev1.LabelHostname] == "" {
		pod.Spec.NodeSelector[corev1.LabelHostname] = f.info.Hosts[0].VirtualNode()
	}
}

func (f *fixture) createPod(pod *corev1.Pod) *corev1.Pod {
	f.t.Helper()
	f.pin(pod)
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
	return f.claimOf(pod.Name)
}

// claimOf waits until the Pod is Running, and returns its claim's id.
func (f *fixture) claimOf(name string) (claimID string) {
	f.t.Helper()
	return f.waitRunning(name).Annotations[podcontract.AnnotationClaimID]
}

// claimOfNext waits until another Pod of that name is Running, and returns its claim's id.
func (f *fixture) claimOfNext(first *corev1.Pod) (claimID string) {
	f.t.Helper()
	next := f.waitPod(first.Name, "another Pod, Running with a claim id", func(pod *corev1.Pod) bool {
		return pod.UID != first.UID && hasClaim(pod)
	})
	return next.Annotations[podcontract.AnnotationClaimID]
}

// waitRunning waits until the Pod is Running and has its claim's id.
func (f *fixture) waitRunning(name string) *corev1.Pod {
	f.t.Helper()
	return f.waitPod(name, "Running with a claim id", hasClaim)
}

func hasClaim(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.Annotations[podcontract.AnnotationClaimID] != ""
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
