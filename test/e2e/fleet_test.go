// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// fleet is a set of sandboxes on every host: running ones with and without an owner, and
// preserved ones without a Pod.
type fleet struct {
	*fixture
	running map[string]*corev1.Pod
	// preserved has the claim of each suspended Sandbox.
	preserved map[string]string
}

func newFleet(f *fixture) *fleet {
	f.t.Helper()
	all := &fleet{f, map[string]*corev1.Pod{}, map[string]string{}}
	for _, h := range f.info.Hosts {
		owned, bare, preserved := "owned-"+h.Name, "bare-"+h.Name, "preserved-"+h.Name
		f.createSandbox(on(h, newPod(owned)))
		f.createSandbox(on(h, newPod(preserved)))
		f.createPod(on(h, newPod(bare)))
		all.preserved[preserved], all.running[owned], all.running[bare] = "", nil, nil
	}
	for name := range all.preserved {
		all.preserved[name] = f.claimOf(name)
		f.suspend(name)
	}
	for name := range all.running {
		all.running[name] = f.waitRunning(name)
	}
	return all
}

// on selects the host's virtual node for the Pod.
func on(h clusterinfo.Host, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeSelector[corev1.LabelHostname] = h.VirtualNode()
	return pod
}

// assertUntouched checks that every VM lives and is the only one ever claimed under its
// name, and that the Pods are the same, Running and not marked for deletion.
func (all *fleet) assertUntouched(after string) {
	all.t.Helper()
	for name, before := range all.running {
		pod, err := all.client.CoreV1().Pods(all.namespace).Get(all.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			all.t.Fatalf("after %s: %v", after, err)
		}
		id := before.Annotations[podcontract.AnnotationClaimID]
		if pod.UID != before.UID || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning ||
			!pod.Status.StartTime.Equal(before.Status.StartTime) || pod.Annotations[podcontract.AnnotationClaimID] != id {
			all.t.Errorf("after %s: Pod %s was %s, with claim %s since %s; it is %s, %s, with claim %s since %s, deletion %v", after, name,
				before.UID, id, before.Status.StartTime, pod.UID, pod.Status.Phase, pod.Annotations[podcontract.AnnotationClaimID], pod.Status.StartTime, pod.DeletionTimestamp)
		}
		all.assertOneAlive(name, id)
	}
	for name, claim := range all.preserved {
		all.assertOneAlive(name, claim)
	}
}

// assertServed checks that the daemons still know every claim: a new Pod of the owner
// adopts a preserved VM, and the VM of a bare Pod is released with the Pod.
func (all *fleet) assertServed(after string) {
	all.t.Helper()
	for name, claim := range all.preserved {
		if id := all.resume(name); id != claim {
			all.t.Errorf("after %s: the new Pod of %s has claim %s, want %s adopted", after, name, id, claim)
		}
	}
	all.assertUntouched(after)
	for name, pod := range all.running {
		if metav1.GetControllerOf(pod) == nil {
			all.deletePod(name, metav1.DeleteOptions{})
			all.waitReleased(name, pod.Annotations[podcontract.AnnotationClaimID])
		}
	}
}

// assertInTables checks the claims tables on the hosts' disks. No daemon needs to run.
func (all *fleet) assertInTables(after string) {
	all.t.Helper()
	var tables strings.Builder
	for _, h := range all.info.Hosts {
		tables.WriteString(all.onHost(h, "cat", stateFile))
	}
	for name, pod := range all.running {
		if id := pod.Annotations[podcontract.AnnotationClaimID]; !strings.Contains(tables.String(), id) {
			all.t.Errorf("after %s: no table has claim %s of %s", after, id, name)
		}
	}
	for name, claim := range all.preserved {
		if !strings.Contains(tables.String(), claim) {
			all.t.Errorf("after %s: no table has claim %s of %s", after, claim, name)
		}
	}
}

// waitAllShown waits until the claims of the first host are in its NodeClaimStatus.
func (all *fleet) waitAllShown() {
	all.t.Helper()
	first := all.info.Hosts[0].Name
	all.waitClaim("owned-"+first, v1alpha1.ClaimBound)
	all.waitClaim("bare-"+first, v1alpha1.ClaimBound)
	all.waitClaim("preserved-"+first, v1alpha1.ClaimPreserved)
}
