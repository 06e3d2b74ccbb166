// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const kubeletPort = 10260

// readyNode returns the virtual node when it is registered and Ready.
func (s *suite) readyNode(ctx context.Context, name string) (*corev1.Node, error) {
	node, err := s.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return node, nil
		}
	}
	return nil, fmt.Errorf("node %s is not Ready: %v", name, node.Status.Conditions)
}

// nodesReady waits for every host's virtual node.
func (s *suite) nodesReady(ctx context.Context) error {
	return poll(ctx, func(ctx context.Context) error {
		var errs []error
		for _, h := range s.info.Hosts {
			_, err := s.readyNode(ctx, h.VirtualNode())
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

func TestVirtualNode(t *testing.T) {
	t.Parallel()
	for _, h := range shared.info.Hosts {
		node, err := shared.readyNode(t.Context(), h.VirtualNode())
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{
			podcontract.LabelRuntime: podcontract.RuntimeSandboxd,
			"type":                   "virtual-kubelet",
			"kubernetes.io/role":     "agent",
			"kubernetes.io/hostname": h.VirtualNode(),
		} {
			if got := node.Labels[key]; got != want {
				t.Errorf("label %s = %q, want %q", key, got, want)
			}
		}
		taint := corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "sandboxd", Effect: corev1.TaintEffectNoSchedule}
		if diff := cmp.Diff([]corev1.Taint{taint}, node.Spec.Taints); diff != "" {
			t.Errorf("taints (-want +got):\n%s", diff)
		}
		addresses := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: h.IP}, {Type: corev1.NodeHostName, Address: h.VirtualNode()}}
		if diff := cmp.Diff(addresses, node.Status.Addresses); diff != "" {
			t.Errorf("addresses (-want +got):\n%s", diff)
		}
		for name, want := range map[corev1.ResourceName]string{"cpu": "4k", "memory": "8Ti", "ephemeral-storage": "16Ti", "pods": "2k"} {
			capacity, allocatable := node.Status.Capacity[name], node.Status.Allocatable[name]
			if capacity.String() != want || allocatable.String() != want {
				t.Errorf("%s: capacity %s, allocatable %s, want %s", name, capacity.String(), allocatable.String(), want)
			}
		}
		if got := node.Status.DaemonEndpoints.KubeletEndpoint.Port; got != kubeletPort {
			t.Errorf("kubelet port = %d, want %d", got, kubeletPort)
		}
	}
}

// TestLease waits for a renewal. Without renewals the node would turn NotReady and its
// Pods would be evicted.
func TestLease(t *testing.T) {
	t.Parallel()
	name := shared.info.Hosts[0].VirtualNode()
	leases := shared.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	var seen time.Time
	// Deleting a Node also deletes its Lease; the next renewal creates it again.
	eventually(t, "renewal of the lease", func(ctx context.Context) error {
		lease, err := leases.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if seen.IsZero() {
			seen = lease.Spec.RenewTime.Time
		}
		if !lease.Spec.RenewTime.After(seen) {
			return fmt.Errorf("last renewed at %s", seen.Format(time.RFC3339))
		}
		return nil
	})
}

// TestOnlySandboxPodsAreScheduled checks that the taint keeps ordinary Pods and the daemon
// off the virtual nodes.
func TestOnlySandboxPodsAreScheduled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pod := newPod("intruder")
	pod.Spec.Tolerations = nil
	f.createPod(pod)
	f.waitPod("intruder", "unschedulable", func(pod *corev1.Pod) bool {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
				return true
			}
		}
		return false
	})
	daemons, err := f.client.AppsV1().DaemonSets(release).Get(t.Context(), release, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := int(daemons.Status.DesiredNumberScheduled), len(f.info.Hosts); got != want {
		t.Errorf("the DaemonSet wants %d Pods on %d hosts", got, want)
	}
}

// TestNodeDeleted affects the whole host, so it runs alone.
func TestNodeDeleted(t *testing.T) {
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	name := f.info.Hosts[0].VirtualNode()
	before, err := f.readyNode(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "registration of the node again", func(ctx context.Context) error {
		after, err := f.readyNode(ctx, name)
		switch {
		case err != nil:
			return err
		case after.UID == before.UID:
			return errors.New("it is the old object")
		case after.Labels[podcontract.LabelRuntime] != podcontract.RuntimeSandboxd || len(after.Spec.Taints) == 0:
			return fmt.Errorf("labels %v, taints %v", after.Labels, after.Spec.Taints)
		}
		return nil
	})
	f.assertOneAlive("box", id)
}
