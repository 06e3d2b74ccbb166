// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEvents checks that the VM's events appear on the Pod and on its Sandbox.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runAndSuspend(newPod("box"))
	f.resume("box")
	f.deleteSandbox("box")
	f.waitReleased("box", id)

	want := []string{"SandboxAdopted", "SandboxClaimed", "SandboxPreserved", "SandboxReleased"}
	for _, kind := range []string{"Pod", "Sandbox"} {
		eventually(t, "events of the "+kind, func(ctx context.Context) error {
			list, err := f.client.CoreV1().Events(f.namespace).List(ctx, metav1.ListOptions{
				FieldSelector: "involvedObject.kind=" + kind + ",involvedObject.name=box,source=vk-sandbox",
			})
			if err != nil {
				return err
			}
			seen := map[string]bool{}
			for _, e := range list.Items {
				seen[e.Reason] = true
			}
			for _, reason := range want {
				if !seen[reason] {
					return fmt.Errorf("no %s among %v", reason, slices.Sorted(maps.Keys(seen)))
				}
			}
			return nil
		})
	}
}
