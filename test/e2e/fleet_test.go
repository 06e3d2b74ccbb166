// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// fleet is a set of sandboxes on every host: running ones with and without an owner, and
// preserved ones without a Pod.
type fleet struct {
	*fixture
	running   map[string]*corev1.Pod
	preserved map[string]vm
}

// vm is a preserved one.
type vm struct {
	claim string
	owner *unstructured.Unstructured
	host  clusterinfo.Host
}

func newFleet(f *fixture) *fleet {
	f.t.Helper()
	all := &fleet{f, map[string]*corev1.Pod{}, map[string]vm{}}
	for _, h := range f.info.Hosts {
		owned, bare, preserved := "owned-"+h.Name, "bare-"+h.Name, "preserved-"+h.Name
		owner := f.createSandbox(preserved)
		for _, pod := range []*corev1.Pod{newOwnedPod(f.createSandbox(owned)), newPod(bare), newOwnedPod(owner)} {
			f.createPod(on(h, pod))
		}
		all.preserved[preserved], all.running[owned], all.running[bare] = vm{owner: owner, host: h}, nil, nil
	}
	for name, kept := range all.preserved {
		kept.claim = f.waitRunning(name).Annotations[podcontract.AnnotationClaimID]
		all.preserved[name] = kept
		f.deletePod(name, metav1.DeleteOptions{})
	}
	for name := range all.running {
		all.running[name] = f.waitRunning(name)
	}
	for name := range all.preserved {
		f.waitGone(name)
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
	for name, kept := range all.preserved {
		all.assertOneAlive(name, kept.claim)
	}
}

// assertServed checks that the daemons still know every claim: a new Pod of the owner
// adopts a preserved VM, and the VM of a bare Pod is released with the Pod.
func (all *fleet) assertServed(after string) {
	all.t.Helper()
	for name, kept := range all.preserved {
		if id := all.run(on(kept.host, newOwnedPod(kept.owner))); id != kept.claim {
			all.t.Errorf("after %s: the new Pod of %s has claim %s, want %s adopted", after, name, id, kept.claim)
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
	for name, kept := range all.preserved {
		if !strings.Contains(tables.String(), kept.claim) {
			all.t.Errorf("after %s: no table has claim %s of %s", after, kept.claim, name)
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
