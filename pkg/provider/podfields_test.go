// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// setGate publishes the condition of the readiness gate.
func setGate(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == "example.com/gate" })
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/gate", Status: status})
	}
}

// published returns how often a status of any Pod has been published.
func (w *world) published() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statuses
}

func TestReadyFollowsAGateAtOnceAndOnce(t *testing.T) {
	for notice, notify := range map[string]func(w *world, pod *corev1.Pod){
		"by the watch": func(w *world, pod *corev1.Pod) { w.p.PodChanged(pod); synctest.Wait() },
		"by nobody":    func(*world, *corev1.Pod) { time.Sleep(reconcileEvery + time.Second) },
	} {
		t.Run("noticed "+notice, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.owners.Set(ownership.Alive, "A")
				pod := fakes.NewPod("a", "P1", "A")
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
				if err := w.create(pod); err != nil || w.phase("a") != corev1.PodRunning || !notReady(w.pod("a")) {
					t.Fatalf("error %v, status %+v, want it Running and not ready", err, w.pod("a").Status)
				}
				// The periodic reconcile must not come at the moment of a change.
				time.Sleep(time.Second)
				for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
					before := w.published()
					notify(w, w.edit("a", setGate(status)))
					if got := notReady(w.pod("a")); got != (status != corev1.ConditionTrue) {
						t.Errorf("not ready: %t after the gate became %s", got, status)
					}
					w.p.PodChanged(w.pod("a")) // as after our own write
					time.Sleep(5 * time.Minute)
					if got := w.published() - before; got != 1 {
						t.Errorf("%d statuses for one change", got)
					}
				}
				if w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
					t.Errorf("%d claims, released %v", w.node.ClaimCount(), w.node.Destroyed())
				}
			})
		})
	}
}

func TestADebugContainerIsRefusedOnce(t *testing.T) {
	debug := func(p *corev1.Pod) {
		p.Generation++
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"},
		})
	}
	for notice, notify := range map[string]func(w *world, pod *corev1.Pod){
		"by UpdatePod": func(w *world, pod *corev1.Pod) { _ = w.p.UpdatePod(w.t.Context(), pod); synctest.Wait() },
		"by nobody":    func(*world, *corev1.Pod) { time.Sleep(reconcileEvery + time.Second) },
	} {
		t.Run("noticed "+notice, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.run("a", "P1", "A")
				before := w.published()
				pod := w.edit("a", debug)
				notify(w, pod)
				got := w.pod("a").Status
				if len(got.EphemeralContainerStatuses) != 1 || got.EphemeralContainerStatuses[0].State.Terminated == nil || got.ObservedGeneration != 1 {
					t.Errorf("generation %d, debug containers %+v", got.ObservedGeneration, got.EphemeralContainerStatuses)
				}
				_ = w.p.UpdatePod(w.t.Context(), w.pod("a"))
				time.Sleep(5 * time.Minute)
				if n := w.events.Count(events.ReasonDebug); n != 1 || w.phase("a") != corev1.PodRunning {
					t.Errorf("%d events, phase %s", n, w.phase("a"))
				}
				if n := w.published() - before; n > 2 {
					t.Errorf("%d statuses for one change and one update", n)
				}
			})
		})
	}
}
