// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// TestPreservedVMIsMissing checks that a new Pod of the owner waits while sandboxd does not
// list the preserved VM: it adopts nothing and claims no other VM. It adopts the VM when
// sandboxd lists it again.
func TestPreservedVMIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	host := f.info.Hosts[0]
	id := f.runAndSuspend(newPod("box"))
	found := f.hide(host, id)

	f.startResume("box")
	eventually(t, "questions about VM "+id, func(ctx context.Context) error {
		asked, err := simulator(host).Requests(ctx, history.RequestFilter{Endpoint: "get"})
		if err != nil {
			return err
		}
		times := 0
		for _, r := range asked.Requests {
			if r.Path == "/v1/sandboxes/"+id && r.Status == http.StatusNotFound {
				times++
			}
		}
		if times < 3 {
			return fmt.Errorf("sandboxd was asked for it %d times", times)
		}
		return nil
	})
	pod, err := f.client.CoreV1().Pods(f.namespace).Get(t.Context(), "box", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Status.Phase != corev1.PodPending || pod.Annotations[podcontract.AnnotationClaimID] != "" {
		t.Errorf("the Pod is %s with claim %q, want it Pending without one", pod.Status.Phase, pod.Annotations[podcontract.AnnotationClaimID])
	}
	f.assertOneAlive("box", id)

	found()
	if adopted := f.waitRunning("box").Annotations[podcontract.AnnotationClaimID]; adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive("box", id)
}

// hide removes a living VM from the index of the host's sandboxd. The returned function,
// or the end of the test, restores it.
func (f *fixture) hide(h clusterinfo.Host, id string) (found func()) {
	f.t.Helper()
	var faults []int
	for _, endpoint := range []string{"list", "get"} {
		added, err := simulator(h).AddFault(f.t.Context(), fault.Fault{Endpoint: endpoint, Action: fault.ActionOmit, Sandboxes: []string{id}})
		if err != nil {
			f.t.Fatal(err)
		}
		faults = append(faults, added)
	}
	found = sync.OnceFunc(func() {
		for _, id := range faults {
			if err := simulator(h).RemoveFault(context.Background(), id); err != nil {
				f.t.Error(err)
			}
		}
	})
	f.t.Cleanup(found)
	return found
}

// TestPreservedVMIsGone checks that the owner's new Pod claims another VM and reports that
// once the end of the preserved VM is confirmed, here by the end of its lease.
func TestPreservedVMIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pod := newPod("box")
	pod.Annotations[podcontract.AnnotationTTLSeconds] = "30"
	id := f.runAndSuspend(pod)
	eventually(t, "end of the lease", func(ctx context.Context) error {
		r, err := f.suite.history(ctx, f.namespace+"/box")
		if err == nil && r.ends[id].Type != history.EventReaped {
			err = errors.New("VM " + id + " is alive")
		}
		return err
	})
	f.patchSandbox("box", fmt.Sprintf(`{"spec": {"podTemplate": {"metadata": {"annotations": {%q: null}}}}}`, podcontract.AnnotationTTLSeconds))
	if fresh := f.resume("box"); fresh == id {
		t.Errorf("the new Pod has claim %s, whose VM is gone", id)
	}
	if r := f.history("box"); len(r.claims) != 2 || len(r.live) != 1 {
		t.Errorf("claimed %v, alive %v; want a second claim that is alive", r.claims, r.live)
	}
	f.warning("box", "no longer has the sandbox that was kept for this pod")
}
