// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

func TestSandboxPodRuns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pod := newPod("box")
	pod.Annotations[podcontract.AnnotationTTLSeconds] = "3600"
	f.createSandbox(pod)
	running := f.waitRunning("box")
	id := running.Annotations[podcontract.AnnotationClaimID]

	r := f.history("box")
	if len(r.claims) != 1 || len(r.live) != 1 || r.live[0].ID != id {
		t.Fatalf("the Pod shows claim %s; the simulator has claims %v and VMs %v", id, r.claims, r.live)
	}
	vm := r.live[0]
	if want := (config.Key{Template: template, Net: "none", Size: "small"}); vm.Key != want {
		t.Errorf("claimed %v, want %v", vm.Key, want)
	}
	if lease := vm.Deadline.Sub(vm.ClaimedAt); lease != time.Hour {
		t.Errorf("lease = %s, want one hour, as in ttl-seconds", lease)
	}

	host := f.info.Hosts[0]
	if running.Spec.NodeName != host.VirtualNode() {
		t.Errorf("the Pod was bound to %q, want %s", running.Spec.NodeName, host.VirtualNode())
	}
	if got := []string{running.Status.PodIP, running.Status.HostIP}; got[0] != host.IP || got[1] != host.IP {
		t.Errorf("podIP and hostIP = %v, want the host of the owner address, %s", got, host.SandboxdAddr)
	}
	conditions := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range running.Status.Conditions {
		conditions[c.Type] = c.Status
	}
	for _, c := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.PodScheduled} {
		if conditions[c] != corev1.ConditionTrue {
			t.Errorf("condition %s = %q, want True", c, conditions[c])
		}
	}
	if s := running.Status.ContainerStatuses; len(s) != 1 || !s[0].Ready || s[0].State.Running == nil || s[0].ImageID != "sandboxd://"+id {
		t.Errorf("container statuses = %+v, want one, running, with the claim's id", s)
	}
	f.scheduled("box")
}

// TestEveryHost checks that each host runs its own Pods on its own VMs.
func TestEveryHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, h := range f.info.Hosts {
		pod := newPod("on-" + h.Name)
		pod.Spec.NodeSelector[corev1.LabelHostname] = h.VirtualNode()
		id := f.run(pod)
		all, err := f.simHistory(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all.VMs, func(vm history.VM) bool { return vm.ID == id }) {
			t.Errorf("the VM %s is not on %s, where its Pod is", id, h.Name)
		}
		if ip := f.waitRunning(pod.Name).Status.PodIP; ip != h.IP {
			t.Errorf("podIP = %s, want that of %s, %s", ip, h.Name, h.IP)
		}
	}
}

// scheduled checks that the real scheduler bound the Pod. The event can arrive after the
// Pod is Running.
func (f *fixture) scheduled(name string) {
	f.t.Helper()
	eventually(f.t, "the scheduler's event", func(ctx context.Context) error {
		events, err := f.client.CoreV1().Events(f.namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + name + ",reason=Scheduled",
		})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Source.Component == corev1.DefaultSchedulerName || e.ReportingController == corev1.DefaultSchedulerName {
				return nil
			}
		}
		return fmt.Errorf("no event of %s about the Pod: %v", corev1.DefaultSchedulerName, events.Items)
	})
}

func TestPodDeletedWhileSandboxLives(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	first := f.waitRunning("box")

	f.deletePod("box", metav1.DeleteOptions{})
	if adopted := f.claimOfNext(first); adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive("box", id)
}

func TestSandboxDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	f.deleteSandbox("box")
	f.waitReleased("box", id)
	f.waitGone("box")
}

// TestSandboxDeletedAfterItsPod deletes the owner when no Pod event can follow: only the
// owner re-check finds it.
func TestSandboxDeletedAfterItsPod(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runAndSuspend(newPod("box"))
	f.assertOneAlive("box", id)
	f.deleteSandbox("box")
	f.waitReleased("box", id)
}

func TestSandboxExpired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	f.patchSandbox("box", fmt.Sprintf(`{"spec": {"shutdownPolicy": "Retain", "shutdownTime": %q}}`, time.Now().UTC().Format(time.RFC3339)))
	f.waitReleased("box", id)
	f.waitGone("box")
	if _, err := f.dynamic.Resource(sandboxes).Namespace(f.namespace).Get(t.Context(), "box", metav1.GetOptions{}); err != nil {
		t.Errorf("the Sandbox is to stay: %v", err)
	}
}

func TestBarePodDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.run(newPod("bare"))
	f.deletePod("bare", metav1.DeleteOptions{})
	f.waitReleased("bare", id)
	f.waitGone("bare")
}

// TestPodOfRecreatedSandboxClaimsNewVM checks that the name alone does not authorize an
// adoption.
func TestPodOfRecreatedSandboxClaimsNewVM(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.runAndSuspend(newPod("box"))
	f.deleteSandbox("box")

	if fresh := f.runSandbox(newPod("box")); fresh == id {
		t.Errorf("the Pod of another Sandbox of that name was given VM %s", id)
	}
	f.waitReleased("box", id)
	if r := f.history("box"); len(r.claims) != 2 || len(r.live) != 1 {
		t.Errorf("claimed %v, alive %v; want two claims and the second alive", r.claims, r.live)
	}
}
