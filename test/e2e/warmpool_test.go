// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// The kinds of agent-sandbox's extensions.
var (
	extensions       = schema.GroupVersion{Group: "extensions.agents.x-k8s.io", Version: "v1beta1"}
	sandboxTemplates = extensions.WithResource("sandboxtemplates")
	warmPools        = extensions.WithResource("sandboxwarmpools")
	sandboxClaims    = extensions.WithResource("sandboxclaims")
)

// createExtension creates an object of the extensions.
func (f *fixture) createExtension(resource schema.GroupVersionResource, kind, name string, spec map[string]any) {
	f.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": extensions.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	if _, err := f.dynamic.Resource(resource).Namespace(f.namespace).Create(f.t.Context(), object, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// createPool creates a warm pool of so many Sandboxes, and waits until all are Ready.
func (f *fixture) createPool(name string, replicas int64) {
	f.t.Helper()
	f.createExtension(sandboxTemplates, "SandboxTemplate", name, map[string]any{"podTemplate": f.podTemplate(newPod(name))})
	f.createExtension(warmPools, "SandboxWarmPool", name, map[string]any{"replicas": replicas, "sandboxTemplateRef": map[string]any{"name": name}})
	eventually(f.t, "warm pool", func(ctx context.Context) error {
		object, err := f.dynamic.Resource(warmPools).Namespace(f.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if ready, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas"); ready != replicas {
			return fmt.Errorf("%d of %d Sandboxes are Ready", ready, replicas)
		}
		return nil
	})
}

// claimedSandbox waits until the SandboxClaim is Ready, and returns its Sandbox's name.
func (f *fixture) claimedSandbox(claim string) (name string) {
	f.t.Helper()
	eventually(f.t, "SandboxClaim", func(ctx context.Context) error {
		object, err := f.dynamic.Resource(sandboxClaims).Namespace(f.namespace).Get(ctx, claim, metav1.GetOptions{})
		if err != nil {
			return err
		}
		name, _, _ = unstructured.NestedString(object.Object, "status", "sandbox", "name")
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" && name != "" {
				return nil
			}
		}
		return fmt.Errorf("it has the Sandbox %q and the conditions %v", name, conditions)
	})
	return name
}

// TestSandboxClaimGetsRunningVM checks that a SandboxClaim gets a microVM that ran in the
// warm pool, that the microVM survives an eviction and ends with the SandboxClaim, and
// that those of the pool end with the pool.
func TestSandboxClaimGetsRunningVM(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.createPool("pool", 2)
	pooled := map[string]string{}
	pods, err := f.client.CoreV1().Pods(f.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		pooled[pod.Name] = pod.Annotations[podcontract.AnnotationClaimID]
	}
	if len(pooled) != 2 {
		t.Fatalf("the pool has the Pods %v, want two", pooled)
	}

	f.createExtension(sandboxClaims, "SandboxClaim", "claim", map[string]any{"warmPoolRef": map[string]any{"name": "pool"}})
	name := f.claimedSandbox("claim")
	first := f.waitRunning(name)
	id := first.Annotations[podcontract.AnnotationClaimID]
	if pooled[name] == "" || id != pooled[name] {
		t.Errorf("the SandboxClaim has the Pod %s with claim %s; the pool had %v", name, id, pooled)
	}
	f.deletePod(name, metav1.DeleteOptions{})
	if adopted := f.claimOfNext(first); adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive(name, id)

	background := metav1.DeletePropagationBackground
	err = f.dynamic.Resource(sandboxClaims).Namespace(f.namespace).Delete(t.Context(), "claim", metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		t.Fatal(err)
	}
	f.waitReleased(name, id)
	_, err = f.dynamic.Resource(warmPools).Namespace(f.namespace).Patch(t.Context(), "pool", types.MergePatchType, []byte(`{"spec": {"replicas": 0}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "end of the pool's microVMs", f.nothingAlive)
}

// TestExamplesAreAccepted checks the examples against the API server and the CRDs of
// agent-sandbox.
func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	out, err := shared.kubectl(t.Context(), "apply", "--dry-run=server", "--validate=strict", "--filename="+root+"/examples")
	if err != nil {
		t.Fatal(errors.Join(err, errors.New(out)))
	}
}
