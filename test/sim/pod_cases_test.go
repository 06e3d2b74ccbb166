// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

func TestRebootWaitsForSandboxd(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		kept, lost := w.run("team-red/kept"), w.run("team-red/lost")
		w.Crash(true)
		if err := w.Sandboxd.Lose(lost); err != nil {
			t.Fatal(err)
		}
		if err := w.Sandboxd.Restart(sandboxdsim.RestartOptions{Down: metav1.Duration{Duration: 90 * time.Second}}); err != nil {
			t.Fatal(err)
		}
		posts := w.posts()
		w.mustStart()
		published := 0
		w.daemon.kubelet.Observe = func(p *corev1.Pod) { published++; w.model.StatusPublished(p) }
		w.Wait(80 * time.Second)
		if published != 0 {
			t.Errorf("%d statuses were published before sandboxd confirmed any claim", published)
		}
		for _, c := range w.Table().List() {
			if c.State != claims.Quarantined {
				t.Errorf("%s is %s before sandboxd confirmed it", c.Key, c.State)
			}
		}
		w.Wait(7 * time.Minute) // longer than a rebuild of the index
		if w.running("team-red/kept") != kept {
			t.Error("the kept sandbox was replaced")
		}
		if p := w.API.Pod("team-red/lost"); p.Status.Phase != corev1.PodFailed || p.Status.Reason != podstatus.ReasonLost {
			t.Errorf("the pod of a lost VM: %s", w.describe("team-red/lost"))
		}
		if got := w.posts() - posts; got != 0 {
			t.Errorf("%d new claims under the same pods", got)
		}
	})
}

// A Pod that replaces one whose VM was lost claims a new VM; it does not adopt the
// lost claim.
func TestReplacementOfLostVMGetsNewVM(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarted %v", restarted), func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				lost := w.run(nb)
				w.Crash(true)
				if err := w.Sandboxd.Lose(lost); err != nil {
					t.Fatal(err)
				}
				w.mustStart()
				w.Wait(7 * time.Minute)
				if p := w.API.Pod(nb); p.Status.Phase != corev1.PodFailed {
					t.Fatalf("the pod of a lost VM: %s", w.describe(nb))
				}
				if restarted {
					w.Stop()
					w.mustStart()
					w.Wait(time.Minute)
				}
				if c, ok := w.Table().Get(nb); !ok || c.Token.Reveal() == "" {
					t.Error("the credential is gone before the pod's teardown")
				}
				w.API.DeletePod(nb)
				w.Wait(10 * time.Second)
				w.API.CreatePod(nb, false, "86400")
				w.Wait(7 * time.Minute)
				if id := w.running(nb); id == lost || !w.lives(id) {
					t.Errorf("the replacement runs on %s, which lives: %v", id, w.lives(id))
				}
			})
		})
	}
}

func TestPodsMissingFromListKeepTheirVMs(t *testing.T) {
	for _, tc := range []struct {
		name string
		hide func(w *World)
	}{
		{"the api is away and then shows no pods", func(w *World) { w.API.SetMode(apiserver.Refusing) }},
		{"the first list is short", func(*World) {}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				keys := make([]string, 10)
				ids := map[string]string{}
				for i := range keys {
					keys[i] = fmt.Sprintf("team-red/n-%d", i)
					ids[keys[i]] = w.run(keys[i])
				}
				w.Stop()
				for _, key := range keys {
					w.API.RemovePod(key, "")
				}
				tc.hide(w)
				posts := w.posts()
				w.mustStart()
				w.Wait(90 * time.Second)
				w.API.SetMode(apiserver.Healthy)
				w.Wait(20 * time.Minute)
				for _, key := range keys {
					w.API.CreatePod(key, false, "86400")
				}
				w.Wait(30 * time.Second)
				for _, key := range keys {
					if got := w.running(key); got != ids[key] {
						t.Errorf("%s runs on %s, want its old %s", key, got, ids[key])
					}
				}
				if got := len(w.released()) + w.posts() - posts; got != 0 {
					t.Errorf("%d releases and claims, want none", got)
				}
			})
		})
	}
}

func TestMassEvictionKeepsVMs(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		ids := map[string]string{}
		for i := range 20 {
			key := fmt.Sprintf("team-red/n-%d", i)
			ids[key] = w.run(key)
		}
		posts := w.posts()
		for key := range ids {
			w.API.RemovePod(key, "")
		}
		w.Wait(time.Minute)
		for key := range ids {
			w.API.CreatePod(key, false, "86400")
		}
		w.Wait(30 * time.Second)
		for key, id := range ids {
			if got := w.running(key); got != id {
				t.Errorf("%s runs on %s, want %s", key, got, id)
			}
		}
		if got := len(w.released()) + w.posts() - posts; got != 0 {
			t.Errorf("%d releases and claims, want none", got)
		}
	})
}

// The node lifecycle controller sets Ready to False on all Pods of an unreachable node,
// and never reverts it.
func TestNotReadyPodBecomesReady(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.run(nb)
		others := w.API.Pod(nb).DeepCopy()
		for i := range others.Status.Conditions {
			if c := &others.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status = corev1.ConditionFalse
			}
		}
		w.API.PatchStatus(others)
		w.Wait(2 * time.Minute)
		for _, c := range w.API.Pod(nb).Status.Conditions {
			if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
				t.Errorf("two minutes later the Pod is not ready: %+v", c)
			}
		}
	})
}

func TestLateDeleteOfOldPodKeepsNewPod(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		old := w.API.Pod(nb).DeepCopy()
		w.API.DeletePod(nb)
		w.Wait(2 * time.Second)
		w.API.CreatePod(nb, false, "86400")
		w.Wait(28 * time.Second)
		if err := w.daemon.provider.DeletePod(w.daemon.kubelet.Context(), old); err != nil {
			t.Errorf("a late delete of an old Pod fails: %v", err)
		}
		if w.API.PatchStatus(old) != true || w.API.Pod(nb).UID == old.UID {
			t.Error("the stand-in let an old status land on the new pod")
		}
		w.Wait(time.Minute)
		if got := w.running(nb); got != id || w.counters().Claimed != 1 {
			t.Errorf("runs on %s after %d claims, want %s after one", got, w.counters().Claimed, id)
		}
	})
}

func TestSuspendedSandboxKeepsVMAndExpiredReleasesIt(t *testing.T) {
	t.Run("suspended", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			id := w.run(nb)
			w.API.SetReady(nb, "False", "SandboxSuspended")
			w.API.DeletePod(nb)
			w.Wait(10 * time.Minute)
			if c, ok := w.Table().Get(nb); !ok || c.State != claims.Preserved {
				t.Errorf("while suspended the claim is %q, want preserved", c.State)
			}
			w.API.SetReady(nb, "True", "Ready")
			w.API.CreatePod(nb, false, "86400")
			w.Wait(5 * time.Second)
			if got := w.running(nb); got != id || w.counters().Claimed != 1 {
				t.Errorf("resumed on %s after %d claims, want %s after one", got, w.counters().Claimed, id)
			}
		})
	})
	for _, order := range []string{"the condition comes first", "the pod goes first"} {
		t.Run("expired, "+order, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				id := w.run(nb)
				if order == "the pod goes first" {
					w.API.DeletePod(nb)
					w.Wait(3 * time.Second)
				}
				w.API.SetReady(nb, "False", "SandboxExpired")
				w.API.DeletePod(nb)
				w.Wait(30 * time.Second)
				if w.lives(id) {
					t.Error("an expired sandbox is kept until another pod event comes")
				}
			})
		})
	}
}
