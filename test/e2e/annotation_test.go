// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAnnotationSurvivesStatusBurst annotates Pods while their statuses are written. A
// status patch from an older copy must not remove the annotation.
func TestAnnotationSurvivesStatusBurst(t *testing.T) {
	t.Parallel()
	const pods, edits = 20, 5
	f := newFixture(t)
	var group sync.WaitGroup
	for i := range pods {
		name := fmt.Sprintf("burst-%02d", i)
		f.createPod(newPod(name))
		group.Go(func() {
			for edit := range edits {
				patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"example.com/edit-%d": "kept", "example.com/last": "edit-%[1]d"}}}`, edit)
				_, err := f.client.CoreV1().Pods(f.namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
				if err != nil {
					t.Errorf("annotate %s: %v", name, err)
				}
			}
		})
	}
	group.Wait()
	for i := range pods {
		pod := f.waitRunning(fmt.Sprintf("burst-%02d", i))
		if got, want := pod.Annotations["example.com/last"], fmt.Sprintf("edit-%d", edits-1); got != want {
			t.Errorf("%s: the annotation that was edited last is %q, want %q", pod.Name, got, want)
		}
		for edit := range edits {
			if key := fmt.Sprintf("example.com/edit-%d", edit); pod.Annotations[key] != "kept" {
				t.Errorf("%s lost the annotation %s: %v", pod.Name, key, pod.Annotations)
			}
		}
	}
}
