// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// The tests in this file end daemons, so they run alone.

// ofTheDaemon selects the release's objects of the daemons, without those of the chart's
// test.
const ofTheDaemon = "app.kubernetes.io/name=vk-sandbox,app.kubernetes.io/instance=" + release

func (s *suite) daemons(ctx context.Context) ([]corev1.Pod, error) {
	list, err := s.client.CoreV1().Pods(release).List(ctx, metav1.ListOptions{LabelSelector: ofTheDaemon})
	if err != nil {
		return nil, fmt.Errorf("list the daemon's Pods: %w", err)
	}
	return list.Items, nil
}

// killDaemons deletes all daemon Pods with a grace period of one second.
func killDaemons(t *testing.T, s *suite) {
	t.Helper()
	pods, err := s.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	grace := int64(1)
	for _, p := range pods {
		err := s.client.CoreV1().Pods(release).Delete(t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
		if err != nil {
			t.Fatal(err)
		}
	}
	waitReplaced(t, s, pods)
}

// waitReplaced waits until none of these daemons exists.
func waitReplaced(t *testing.T, s *suite, old []corev1.Pod) {
	t.Helper()
	eventually(t, "end of the daemons", func(ctx context.Context) error {
		now, err := s.daemons(ctx)
		if err != nil {
			return err
		}
		for _, p := range now {
			if slices.ContainsFunc(old, func(o corev1.Pod) bool { return o.UID == p.UID }) {
				return errors.New(p.Name + " is still there")
			}
		}
		return nil
	})
}

// stopDaemons ends the daemons of all hosts by an upgrade that selects no host, and
// waits for their end. The next upgrade starts them again.
func stopDaemons(t *testing.T, s *suite) {
	t.Helper()
	old, err := s.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.upgrade(t.Context(), "nodeSelector.nowhere=here"); err != nil {
		t.Fatal(err)
	}
	waitReplaced(t, s, old)
}

// waitDaemons waits until a daemon is Ready on every host.
func waitDaemons(t *testing.T, s *suite) {
	t.Helper()
	eventually(t, "daemons", func(ctx context.Context) error {
		set, err := s.client.AppsV1().DaemonSets(release).Get(ctx, release, metav1.GetOptions{})
		if err == nil && (int(set.Status.NumberReady) != len(s.info.Hosts) || set.Status.ObservedGeneration != set.Generation) {
			err = fmt.Errorf("%d of %d are Ready", set.Status.NumberReady, len(s.info.Hosts))
		}
		return err
	})
}

func TestDaemonKilledBetween(t *testing.T) {
	f := newFixture(t)
	id := f.runAndSuspend(newPod("box"))

	killDaemons(t, f.suite)
	waitDaemons(t, f.suite)
	f.assertOneAlive("box", id)

	if adopted := f.resume("box"); adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive("box", id)
}

// TestDaemonKilledWhilePodRuns checks that the Pod does not change.
func TestDaemonKilledWhilePodRuns(t *testing.T) {
	f := newFixture(t)
	id := f.runSandbox(newPod("box"))
	before := f.waitRunning("box")

	killDaemons(t, f.suite)
	waitDaemons(t, f.suite)

	after := f.waitRunning("box")
	if after.UID != before.UID || !after.Status.StartTime.Equal(before.Status.StartTime) {
		t.Errorf("UID %s, start %s became UID %s, start %s", before.UID, before.Status.StartTime, after.UID, after.Status.StartTime)
	}
	f.assertOneAlive("box", id)
}

// TestTaintIsRestored removes the taint, which keeps ordinary Pods off the node.
func TestTaintIsRestored(t *testing.T) {
	node := shared.info.Hosts[0].VirtualNode()
	if _, err := shared.kubectl(t.Context(), "taint", "node", node, podcontract.TaintKey+"-"); err != nil {
		t.Fatal(err)
	}
	killDaemons(t, shared)
	waitDaemons(t, shared)
	eventually(t, "taint of "+node, func(ctx context.Context) error {
		n, err := shared.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == podcontract.TaintKey }) {
			return fmt.Errorf("taints are %v", n.Spec.Taints)
		}
		return nil
	})
}

// TestPodsLostWhileDaemonIsAway deletes Pods while no daemon runs. Their VMs get the same
// verdict as with a running daemon.
func TestPodsLostWhileDaemonIsAway(t *testing.T) {
	f := newFixture(t)
	kept := f.runSandbox(newPod("kept"))
	gone := f.runSandbox(newPod("gone"))
	bare := f.run(newPod("bare"))

	stopDaemons(t, f.suite)
	f.patchSandbox("kept", `{"spec": {"operatingMode": "Suspended"}}`)
	f.deleteSandbox("gone")
	for _, name := range []string{"kept", "bare", "gone"} {
		f.deletePod(name, forced)
	}
	for _, name := range []string{"kept", "gone", "bare"} {
		f.waitGone(name)
	}
	f.assertOneAlive("kept", kept)
	f.assertOneAlive("gone", gone)
	f.assertOneAlive("bare", bare)

	if err := f.upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	f.waitReleased("gone", gone)
	f.waitReleased("bare", bare)
	f.assertOneAlive("kept", kept)
	if adopted := f.resume("kept"); adopted != kept {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, kept)
	}
	f.assertOneAlive("kept", kept)
}
