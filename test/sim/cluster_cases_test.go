// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/model"
)

func TestLastControllerAuthorizesRelease(t *testing.T) {
	const heir = "team-red/heir"
	for _, tc := range []struct {
		name string
		wait time.Duration // between the change and the deletion
		end  func(w *World)
	}{
		{"removed at once", 0, func(w *World) { w.API.RemovePod(nb, "") }},
		{"removed after a reconcile", 2 * time.Minute, func(w *World) { w.API.RemovePod(nb, "") }},
		{"deleted at once", 0, func(w *World) { w.API.DeletePod(nb) }},
		{"removed while the daemon is away", 2 * time.Minute, func(w *World) {
			w.Crash(true)
			w.API.RemovePod(nb, "")
			w.mustStart()
		}},
		{"lost as a tombstone", 0, func(w *World) {
			w.daemon.kubelet.LoseDeletions(1)
			w.API.RemovePod(nb, "")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				id := w.run(nb)
				w.API.CreateOwner(heir)
				w.API.Transfer(nb, heir, false)
				w.API.DeleteOwner(nb, false)
				w.Wait(tc.wait)
				tc.end(w)
				w.Wait(15 * time.Minute)
				if !w.lives(id) {
					t.Fatal("the sandbox went with the owner that its Pod had before")
				}
				w.API.DeleteOwner(heir, false)
				w.Wait(15 * time.Minute)
				if w.lives(id) {
					t.Error("the sandbox outlives the owner that its Pod had last")
				}
			})
		})
	}
}

func TestDeletedPodWithFinalizerBecomesTerminal(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.API.CreateOwner(nb)
		w.API.CreatePod(nb, false, "86400", apiserver.WithFinalizer)
		w.Wait(2 * time.Second)
		id := w.running(nb)
		w.API.DeletePod(nb)
		w.Wait(2 * time.Minute)
		if p := w.API.Pod(nb); p == nil || !apiserver.Terminal(p) || !apiserver.NotReady(p) || !w.lives(id) {
			t.Errorf("while the finalizer stays: %s, its sandbox lives: %v", w.describe(nb), w.lives(id))
		}
		w.API.DeleteOwner(nb, false)
		w.Wait(15 * time.Minute)
		if w.lives(id) || w.API.Pod(nb) == nil {
			t.Errorf("when the owner is gone, the sandbox lives: %v", w.lives(id))
		}
		w.API.RemoveFinalizers(nb)
		w.Wait(time.Minute)
		if w.API.Pod(nb) != nil {
			t.Errorf("without the finalizer: %s", w.describe(nb))
		}
	})
}

func TestRestoreAuthorizesNoRelease(t *testing.T) {
	for n, held := range map[int]bool{model.MissingOwnersBound - 1: false, model.MissingOwnersBound: true} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d forgotten, daemon away %v", n, away), func(t *testing.T) {
				play(t, func(t *testing.T, w *World) {
					for i := range n {
						w.run(fmt.Sprintf("team-red/n-%d", i))
					}
					if away {
						w.Stop()
					}
					w.model.Restore() // nothing was there at the backup
					if away {
						w.mustStart()
					}
					w.Wait(model.MissingOwnersHold - time.Minute)
					if got := len(w.alive()); held && got != n {
						t.Errorf("%d of %d live before the hold is over", got, n)
					}
					w.Wait(15 * time.Minute)
					if got := len(w.alive()); got != 0 {
						t.Errorf("%d live after the hold", got)
					}
				})
			})
		}
	}
}

func TestOtherClusterAuthorizesNoRelease(t *testing.T) {
	for name, visit := range map[string]func(w *World){
		"at a start":                     func(w *World) { w.StartElsewhere(5*time.Minute, false); w.mustStart() },
		"at a start, with Pods":          func(w *World) { w.StartElsewhere(5*time.Minute, true); w.mustStart() },
		"while the daemon runs":          func(w *World) { w.AnswerFromElsewhere(5 * time.Minute) },
		"for a moment, and a crash then": func(w *World) { w.AnswerFromElsewhere(time.Second); w.Crash(true); w.mustStart() },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				id := w.run(nb)
				visit(w)
				w.Wait(2 * time.Minute)
				if !w.lives(id) || w.running(nb) != id {
					t.Errorf("in its own cluster again, the sandbox lives: %v; %s", w.lives(id), w.describe(nb))
				}
			})
		})
	}
}

func TestUnusableAddressKeepsSandbox(t *testing.T) {
	for name, tc := range map[string]struct{ address, ip string }{
		"no port":       {`"10.0.0.5"`, "10.0.0.5"},
		"bare IPv6":     {`"fd00::5"`, "fd00::5"},
		"a host's name": {`"sandboxd.local:7777"`, ""},
		"unspecified":   {`"0.0.0.0:7777"`, ""},
		"empty":         {`""`, ""},
		"none":          {`null`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionRewrite, Fields: field("owner_addr", tc.address)})
				w.API.CreateOwner(nb)
				w.API.CreatePod(nb, false, "86400")
				w.Wait(10 * time.Minute)
				p := w.API.Pod(nb)
				if p.Status.Phase != corev1.PodRunning || p.Status.PodIP != tc.ip || w.posts() != 1 || len(w.released()) != 0 {
					t.Errorf("%s, IP %q, after %d claims and %d releases", w.describe(nb), p.Status.PodIP, w.posts(), len(w.released()))
				}
			})
		})
	}
}

// With restart policy Never one failed create ends the Pod, even before the watch
// delivers the terminal phase.
func TestTerminalPodClaimsNothing(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.daemon.kubelet.DelayWatch(200 * time.Millisecond)
		w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 429, Count: 1})
		w.API.CreateOwner(nb)
		w.API.CreatePod(nb, false, "86400", apiserver.NeverRestarted)
		w.Wait(10 * time.Minute)
		if p := w.API.Pod(nb); p.Status.Phase != corev1.PodFailed || len(w.alive()) != 0 {
			t.Errorf("%s, and %d sandboxes are held", w.describe(nb), len(w.alive()))
		}
	})
}
