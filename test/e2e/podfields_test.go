// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// conditionOf is the Pod's condition of that type; empty if there is none.
func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// described waits until kubectl describe of the Pod shows all parts.
func (f *fixture) described(name string, parts ...string) {
	f.t.Helper()
	eventually(f.t, "description of Pod "+name, func(ctx context.Context) error {
		text, err := f.kubectl(ctx, "--namespace="+f.namespace, "describe", "pod", name)
		if err == nil && !containsAll(text, parts) {
			err = fmt.Errorf("it lacks one of %q:\n%s", parts, text)
		}
		return err
	})
}

func TestReadinessGate(t *testing.T) {
	t.Parallel()
	const gate = "example.com/lb"
	f := newFixture(t)
	pod := newPod("gated")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
	id := f.run(pod)
	closed := f.waitPod("gated", "not ready because of its gate", func(pod *corev1.Pod) bool {
		return conditionOf(pod, corev1.PodReady).Reason == "ReadinessGatesNotReady"
	})
	if c := conditionOf(closed, corev1.ContainersReady); c.Status != corev1.ConditionTrue || closed.Status.ObservedGeneration != closed.Generation {
		t.Errorf("containers ready: %+v, generation %d of %d", c, closed.Status.ObservedGeneration, closed.Generation)
	}
	for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse} {
		patch := fmt.Appendf(nil, `{"status": {"conditions": [{"type": %q, "status": %q}]}}`, gate, status)
		_, err := f.client.CoreV1().Pods(f.namespace).Patch(t.Context(), "gated", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			t.Fatal(err)
		}
		f.waitPod("gated", "ready as its gate", func(pod *corev1.Pod) bool {
			return conditionOf(pod, corev1.PodReady).Status == status && conditionOf(pod, gate).Status == status
		})
	}
	if r := f.history("gated"); len(r.claims) != 1 || r.claims[0] != id {
		t.Errorf("claimed %v, want %s alone", r.claims, id)
	}
}

// TestDebugContainer expects that kubectl ends by itself.
func TestDebugContainer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.run(newPod("debugged"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := f.kubectl(ctx, "--namespace="+f.namespace, "debug", "debugged", "--image=busybox", "--container=debugger", "--attach")
	if ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), "microVM") {
		t.Errorf("kubectl debug: %v, want the reason within %s", err, patience)
	}
	f.described("debugged", "debugger:", "NotRun", "debug containers are not run", "SandboxDebugRefused")
	if pod := f.waitRunning("debugged"); conditionOf(pod, corev1.PodReady).Status != corev1.ConditionTrue {
		t.Errorf("status %+v", pod.Status)
	}
}

func TestInitContainersAndEphemeralStorage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pod := newPod("box")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("512Mi")}
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "busybox"}, {Name: "mesh", Image: "proxy", RestartPolicy: &always}}
	f.run(pod)
	f.described("box", "init containers are not run")
	row, err := f.kubectl(t.Context(), "--namespace="+f.namespace, "get", "pod", "box", "--no-headers")
	if err != nil || !containsAll(row, []string{"2/2", "Running"}) {
		t.Errorf("kubectl get shows %q, error %v; want 2/2 Running", row, err)
	}
}

// TestVolumeClaimTemplate gives the claim a volume without a node, so that the scheduler
// binds the Pod.
func TestVolumeClaimTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	modes, size := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: f.namespace},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes, Capacity: size, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}},
		},
	}
	volumes := f.client.CoreV1().PersistentVolumes()
	if _, err := volumes.Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := volumes.Delete(context.Background(), volume.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	sandbox := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": sandboxes.GroupVersion().String(), "kind": "Sandbox",
		"metadata": map[string]any{"name": "box"},
		"spec": map[string]any{
			"podTemplate": f.podTemplate(newPod("box")),
			"volumeClaimTemplates": []any{map[string]any{
				"metadata": map[string]any{"name": "data"},
				"spec": map[string]any{
					"accessModes": []any{string(corev1.ReadWriteOnce)}, "storageClassName": "", "volumeName": volume.Name,
					"resources": map[string]any{"requests": map[string]any{"storage": "1Mi"}},
				},
			}},
		},
	}}
	if _, err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Create(t.Context(), sandbox, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.described("box", "volume data (PersistentVolumeClaim data-box)", "a microVM mounts no volumes", "ProviderCreateFailed")
	pod := f.waitPod("box", "Pending and not ready", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodPending && conditionOf(pod, corev1.PodReady).Status == corev1.ConditionFalse
	})
	if r := f.history("box"); len(r.claims) != 0 {
		t.Errorf("claimed %v for a refused Pod; its status is %+v", r.claims, pod.Status)
	}
}
