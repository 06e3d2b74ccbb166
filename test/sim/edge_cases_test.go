// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

func TestPodWithoutClaimIsDeleted(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 429})
		w.API.CreatePod(nb, true, "86400")
		w.Wait(10 * time.Second)
		w.API.DeletePod(nb)
		w.Wait(10 * time.Second)
		if w.API.Pod(nb) != nil || len(w.released()) != 0 {
			t.Errorf("pod: %s, released %v", w.describe(nb), w.released())
		}
	})
}

func TestRefusedTokenKeepsRow(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		w.fault(fault.Fault{Action: fault.ActionStatus, Status: 401})
		w.API.DeleteOwner(nb, false)
		w.API.DeletePod(nb)
		w.Wait(time.Hour)
		if _, ok := w.Table().Get(nb); !ok {
			t.Fatal("a refused token dropped the row")
		}
		w.Sandboxd.Faults.Clear()
		w.Wait(time.Minute)
		if w.lives(id) || w.API.Pod(nb) != nil {
			t.Errorf("after the token works: sandbox lives %v, pod %s", w.lives(id), w.describe(nb))
		}
	})
}

func TestLongestPodName(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		key := "team-red/" + strings.Repeat("n", 253)
		id := w.run(key)
		if vm := w.alive()[id]; vm.ClaimRef != key {
			t.Errorf("claim_ref %q", vm.ClaimRef)
		}
		w.Crash(true)
		w.mustStart()
		w.Wait(10 * time.Second)
		if w.running(key) != id {
			t.Error("the claim did not survive a crash")
		}
	})
}

func TestTwoPodsOfOneSandbox(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		first := w.run(nb)
		w.API.CreatePodOf(nb, apiserver.NewPod("team-red/second", "86400"))
		w.Wait(2 * time.Second)
		second := w.running("team-red/second")
		w.API.DeletePod(nb)
		w.API.DeletePod("team-red/second")
		w.Wait(30 * time.Minute)
		if !w.lives(first) || !w.lives(second) || len(w.Table().List()) != 2 {
			t.Errorf("while the owner lives: first lives %v, second lives %v, %d rows", w.lives(first), w.lives(second), len(w.Table().List()))
		}
		for _, id := range []string{first, second} {
			reported := 0
			for line := range strings.Lines(w.Log.String()) {
				if strings.Contains(line, "two pods of one owner") && strings.Contains(line, "claim="+id) {
					reported++
				}
			}
			if reported != 1 {
				t.Errorf("%s is reported %d times, want once", id, reported)
			}
		}
		w.API.DeleteOwner(nb, false)
		w.Wait(15 * time.Minute)
		if w.lives(first) || w.lives(second) {
			t.Errorf("once the owner is gone: first lives %v, second lives %v", w.lives(first), w.lives(second))
		}
	})
}

// DaemonSet Pods that tolerate every taint are bound to this node. They are refused
// without a claim.
func TestPodOfOtherRuntimeIsRefusedOnce(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		other := apiserver.NewPod("kube-system/node-exporter-x", "")
		other.Annotations = map[string]string{podcontract.AnnotationRuntime: "containerd"}
		w.API.AddPod(other)
		w.Wait(time.Hour)
		if p := w.API.Pod("kube-system/node-exporter-x"); p.Status.Phase != corev1.PodPending || !strings.Contains(p.Status.Message, "runtime") {
			t.Errorf("the refusal: %s", w.describe("kube-system/node-exporter-x"))
		}
		if w.posts() != 0 {
			t.Errorf("%d claims for a pod of another runtime", w.posts())
		}
		w.API.DeletePod("kube-system/node-exporter-x")
		w.Wait(10 * time.Second)
		if w.API.Pod("kube-system/node-exporter-x") != nil || len(w.released()) != 0 {
			t.Errorf("pod: %s, released %v", w.describe("kube-system/node-exporter-x"), w.released())
		}
	})
}
