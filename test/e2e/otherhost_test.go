// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// newOtherHost returns the Pod of a daemon that simulates another host on this one: it has
// its own machine id and its own claims table.
func (f *fixture) newOtherHost(h clusterinfo.Host) *corev1.Pod {
	f.t.Helper()
	pod := f.newStray(h, "--listen-addr=:10360", "--metrics-addr=127.0.0.1:10361", "--machine-id-file=/etc/vk-sandbox/machine-id/uid")
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; v.Name {
		case "state":
			v.VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		case "machine-id":
			uid := corev1.DownwardAPIVolumeFile{Path: "uid", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"}}
			v.VolumeSource = corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{uid}}}
		}
	}
	return pod
}

// hostID returns the host identity on the Node.
func (s *suite) hostID(ctx context.Context, node string) (string, error) {
	n, err := s.readyNode(ctx, node)
	if err != nil {
		return "", err
	}
	return n.Annotations[nodeobject.AnnotationHostID], nil
}

// TestTwoHostsOfOneName checks that a daemon exits while another host serves the same Node,
// and takes the Node over after the other one's Lease has expired, in both directions.
// It runs alone.
func TestTwoHostsOfOneName(t *testing.T) {
	f := newFixture(t)
	host := f.info.Hosts[0]
	node := host.VirtualNode()
	first, err := f.hostID(t.Context(), node)
	if err != nil || first == "" {
		t.Fatalf("the Node carries the host %q, %v", first, err)
	}
	id := f.runAndSuspend(newPod("box"))
	t.Cleanup(func() {
		if t.Failed() {
			resetRelease(t, f.suite)
		}
	})

	f.start(f.newOtherHost(host))
	f.waitExit(stray, "is served by another host", first, "--node-name")
	if now, err := f.hostID(t.Context(), node); err != nil || now != first {
		t.Errorf("the Node carries the host %q, %v; want %q", now, err, first)
	}
	if got := f.run(newPod("meanwhile")); got == "" {
		t.Error("the first host does not serve its Pods")
	}
	f.deletePod("meanwhile", metav1.DeleteOptions{})
	f.waitGone("meanwhile")
	f.assertOneAlive("box", id)
	if err := f.stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	stopDaemons(t, f.suite)
	f.start(f.newOtherHost(host))
	f.waitLog("waiting for its lease to lapse")
	f.waitOtherHost(node, first)
	second, err := f.hostID(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	taken := f.run(newPod("taken"))
	f.deletePod("taken", metav1.DeleteOptions{})
	f.waitReleased("taken", taken)
	f.assertOneAlive("box", id)
	if err := f.stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := f.upgradeTo(t.Context(), chartDir); err != nil {
		t.Fatal(err)
	}
	f.waitOtherHost(node, second)
	if err := f.rolledOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	if again, err := f.hostID(t.Context(), node); err != nil || again != first {
		t.Errorf("the Node carries the host %q, %v; want %q again", again, err, first)
	}
	if adopted := f.resume("box"); adopted != id {
		t.Errorf("the new Pod has claim %s, want %s adopted", adopted, id)
	}
	f.assertOneAlive("box", id)
}

// waitOtherHost waits until the Node is Ready with another host identity.
func (f *fixture) waitOtherHost(node, before string) {
	f.t.Helper()
	eventually(f.t, "takeover of "+node, func(ctx context.Context) error {
		now, err := f.hostID(ctx, node)
		if err == nil && (now == "" || now == before) {
			err = fmt.Errorf("it carries the host %q", now)
		}
		return err
	})
}
