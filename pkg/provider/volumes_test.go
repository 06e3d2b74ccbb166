// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

func withVolume(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-a"},
	}}}
}

func TestAPodWithAPersistentVolumeIsRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.owners.Set(ownership.Alive, "A")
		pod := fakes.NewPod("a", "P1", "A")
		withVolume(pod)
		err := w.create(pod)
		var refused *podcontract.PersistentVolumeError
		if !errors.As(err, &refused) || w.node.ClaimCount() != 0 {
			t.Fatalf("error %v after %d claims", err, w.node.ClaimCount())
		}
		if got := w.events.Of("Sandbox/of-A"); !slices.Equal(got, []string{events.ReasonRefused}) {
			t.Errorf("events of the owner: %v", got)
		}
		time.Sleep(time.Hour) // without virtual-kubelet, which tries again too
		if got := len(w.events.Of("Sandbox/of-A")); got > 2 || w.node.ClaimCount() != 0 {
			t.Errorf("%d events and %d claims after an hour", got, w.node.ClaimCount())
		}
		if got := w.pod("a").Status; got.Phase != corev1.PodPending || got.Message != err.Error() {
			t.Errorf("status %+v, want the reason", got)
		}
	})
}

// A sandbox is never lost because its Pod's volume is refused.
func TestARefusedVolumeCostsNoSandbox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "A")
		w.edit("a", withVolume)
		w.restart() // after an upgrade from a version that served it
		time.Sleep(time.Minute)
		if w.phase("a") != corev1.PodRunning {
			t.Fatalf("the Pod is %s", w.phase("a"))
		}
		w.remove("a")
		next := fakes.NewPod("a", "P2", "A")
		withVolume(next)
		if err := w.create(next); err != nil {
			t.Fatal(err)
		}
		if c, held := w.row("a"); !held || c.ID != claim.ID || c.PodUID != "P2" || w.phase("a") != corev1.PodRunning {
			t.Errorf("claim %s of Pod %q, phase %s; want the kept one adopted", c.ID, c.PodUID, w.phase("a"))
		}
		other := fakes.NewPod("a", "P3", "B")
		withVolume(other)
		w.owners.Set(ownership.Alive, "B")
		w.remove("a")
		if err := w.create(other); err == nil {
			t.Error("a Pod of another owner is served")
		}
		time.Sleep(time.Hour)
		if w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
			t.Errorf("%d claims, released %v", w.node.ClaimCount(), w.node.Destroyed())
		}
	})
}
