// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

const finalizer = "e2e.sandbox.cocoonstack.io/keep"

// TestPodKeptByFinalizer checks that a deleted Pod with a finalizer becomes terminal and
// not Ready. Its VM ends with the Sandbox, not with the Pod object.
func TestPodKeptByFinalizer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	t.Cleanup(func() { f.setFinalizers(context.Background(), "box") })
	id := f.runSandbox(newPod("box"))
	f.setFinalizers(t.Context(), "box", finalizer)

	f.deletePod("box", metav1.DeleteOptions{})
	failed := f.waitPod("box", "Failed because it was deleted", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == podstatus.ReasonDeleted
	})
	if failed.DeletionTimestamp == nil {
		t.Error("the Pod has no deletion time")
	}
	if !slices.ContainsFunc(failed.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	}) {
		t.Errorf("conditions are %v, want Ready False", failed.Status.Conditions)
	}
	f.assertOneAlive("box", id)

	f.deleteSandbox("box")
	f.waitReleased("box", id)
	kept, err := f.client.CoreV1().Pods(f.namespace).Get(t.Context(), "box", metav1.GetOptions{})
	if err != nil || kept.UID != failed.UID || kept.Status.Phase != corev1.PodFailed {
		t.Errorf("after the release the Pod is %+v, %v", kept.Status, err)
	}
	f.setFinalizers(t.Context(), "box")
	f.waitGone("box")
	f.assertEventsOnce("box", "SandboxClaimed", "SandboxPreserved", "SandboxReleased")
}

func (f *fixture) setFinalizers(ctx context.Context, name string, finalizers ...string) {
	f.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = f.client.CoreV1().Pods(f.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if ignoreNotFound(err) != nil {
		f.t.Error(err)
	}
}

// assertEventsOnce waits until the daemon has recorded each of these events about the
// Pod exactly once.
func (f *fixture) assertEventsOnce(name string, reasons ...string) {
	f.t.Helper()
	eventually(f.t, "events about Pod "+name, func(ctx context.Context) error {
		list, err := f.client.CoreV1().Events(f.namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.kind=Pod,involvedObject.name=" + name + ",source=vk-sandbox",
		})
		if err != nil {
			return err
		}
		times := map[string]int32{}
		for _, e := range list.Items {
			times[e.Reason] += max(e.Count, 1)
		}
		for _, reason := range reasons {
			if times[reason] != 1 {
				return fmt.Errorf("there are %v, want one %s", times, reason)
			}
		}
		return nil
	})
}
