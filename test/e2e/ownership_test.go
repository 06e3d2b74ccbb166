// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// forced deletes a Pod at once, as kubectl delete --force does.
var forced = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

// setController makes the Sandbox the Pod's only owner.
func (f *fixture) setController(pod string, owner *unstructured.Unstructured) {
	f.t.Helper()
	refs := []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	if err != nil {
		f.t.Fatal(err)
	}
	// A strategic merge would add the owner to the existing ones.
	if _, err := f.client.CoreV1().Pods(f.namespace).Patch(f.t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// assertOwner checks the published owner of the claim.
func assertOwner(t *testing.T, row v1alpha1.NodeClaim, owner *unstructured.Unstructured) {
	t.Helper()
	if row.Owner == nil || row.Owner.UID != owner.GetUID() {
		t.Errorf("claim %s is shown with the owner %+v, want %s", row.ID, row.Owner, owner.GetUID())
	}
}

// TestPodHandedToOtherSandbox checks that the Pod's last Sandbox keeps the VM, although the
// first Sandbox ends and the Pod is force-deleted right after the change.
func TestPodHandedToOtherSandbox(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// Several Pods, because the change and the deletion race in the daemon's watch.
	const pods = 5
	second := f.createSandbox(newPod("second"))
	claims := map[string]string{}
	for i := range pods {
		name := fmt.Sprintf("box-%d", i)
		claims[name] = f.runSandbox(newPod(name))
	}
	for name := range claims {
		f.setController(name, second)
		f.deleteSandbox(name)
		f.deletePod(name, forced)
	}
	for name := range claims {
		f.waitGone(name)
		assertOwner(t, f.waitClaim(name, v1alpha1.ClaimPreserved), second)
	}
	for name, id := range claims {
		if adopted := f.run(newOwnedPod(name, second)); adopted != id {
			t.Errorf("the new Pod %s has claim %s, want %s adopted", name, adopted, id)
		}
		f.assertOneAlive(name, id)
	}
	f.deleteSandbox("second")
	for name, id := range claims {
		f.waitReleased(name, id)
	}
}

// TestBarePodAdoptedBySandbox checks that the VM of a bare Pod that a Sandbox adopts
// survives the Pod's eviction while the Sandbox lives.
func TestBarePodAdoptedBySandbox(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	bare := newPod("box")
	bare.Labels = map[string]string{"agents.x-k8s.io/adoptable": "true"}
	id := f.run(bare)
	first := f.waitRunning("box")
	owner := f.createSandbox(newPod("box"))
	f.waitPod("box", "adopted", func(pod *corev1.Pod) bool { return metav1.IsControlledBy(pod, owner) })
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "box", Namespace: f.namespace}}
	if err := f.client.PolicyV1().Evictions(f.namespace).Evict(t.Context(), eviction); err != nil {
		t.Fatal(err)
	}
	if adopted := f.claimOfNext(first); adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive("box", id)
}

// TestPodOrphanedByItsSandbox deletes a Sandbox with --cascade=orphan. The Pod becomes a
// bare Pod, and its VM ends with it.
func TestPodOrphanedByItsSandbox(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	orphan := metav1.DeletePropagationOrphan
	err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Delete(t.Context(), "box", metav1.DeleteOptions{PropagationPolicy: &orphan})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "claim of the orphaned Pod", func(ctx context.Context) error {
		row, found, err := f.claimStatus(ctx, "box")
		if err == nil && (!found || row.State != v1alpha1.ClaimBound || row.Owner != nil) {
			err = fmt.Errorf("shown is %+v, want it bound without an owner", row)
		}
		return err
	})
	if pod := f.waitRunning("box"); len(pod.OwnerReferences) > 0 || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		t.Errorf("the Pod has the owners %v, deletion %v", pod.OwnerReferences, pod.DeletionTimestamp)
	}
	f.assertOneAlive("box", id)
	f.deletePod("box", metav1.DeleteOptions{})
	f.waitReleased("box", id)
	f.waitGone("box")
}
