// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// linger runs a Pod with a finalizer and begins its deletion an hour later, which is
// longer than any state about the new claim is kept.
func linger(w *world) {
	w.run("a", "P1", "S")
	w.edit("a", lingering)
	time.Sleep(time.Hour)
	w.remove("a")
}

func TestADeletedPodThatLingersHasEnded(t *testing.T) {
	for name, restarted := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				linger(w)
				if restarted {
					w.restart()
					w.p.PodChanged(w.pod("a")) // as the watch does with its first list
					_ = w.create(w.pod("a"))
				}
				time.Sleep(time.Minute)
				pod := w.pod("a")
				if pod.Status.Phase != corev1.PodFailed || pod.Status.Reason != podstatus.ReasonDeleted || !notReady(pod) {
					t.Errorf("status = %+v, want it Failed, %s and not ready", pod.Status, podstatus.ReasonDeleted)
				}
				if shown, err := w.p.GetPod(t.Context(), namespace, "a"); err == nil && shown.Status.Phase != corev1.PodFailed {
					t.Errorf("the provider shows it as %s", shown.Status.Phase)
				}
				if c, held := w.row("a"); !held || uidOf(c.Owner) != "S" || len(w.node.Destroyed()) > 0 {
					t.Errorf("kept for %q, released %v, want it kept for its owner", uidOf(c.Owner), w.node.Destroyed())
				}
			})
		})
	}
}

// The watch event of a status must not lead to another status.
func TestALingeringPodIsPublishedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		linger(w)
		time.Sleep(time.Minute)
		before := w.statuses
		for range 10 {
			w.p.PodChanged(w.pod("a"))
			if err := w.p.DeletePod(t.Context(), w.pod("a")); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		}
		if w.statuses != before {
			t.Errorf("%d more statuses, although the API shows it", w.statuses-before)
		}
	})
}

func TestALingeringPodIsNotRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		linger(w)
		time.Sleep(time.Minute)
		events, status, removals := w.events.Count(""), w.pod("a").Status, w.removals
		for range 10 {
			if err := w.p.DeletePod(t.Context(), w.pod("a")); err != nil {
				t.Error(err)
			}
			w.p.PodChanged(w.edit("a", func(p *corev1.Pod) { p.Labels = map[string]string{"seen": "again"} }))
			if err := w.p.UpdatePod(t.Context(), w.pod("a")); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		}
		if got := w.events.Count(""); got != events {
			t.Errorf("%d more events", got-events)
		}
		if diff := cmp.Diff(status, w.pod("a").Status); diff != "" {
			t.Errorf("its status changed (-before +after):\n%s", diff)
		}
		if w.removals != removals || removals != 1 {
			t.Errorf("asked %d times for its removal, want once", w.removals)
		}
		if w.node.ClaimCount() != 1 {
			t.Errorf("%d claims", w.node.ClaimCount())
		}
	})
}

// The sandbox is released with its owner, not with the Pod's object.
func TestTheSandboxOfALingeringPodGoesWithItsOwner(t *testing.T) {
	for name, restarted := range map[string]bool{"same daemon": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				linger(w)
				if restarted {
					w.restart()
					w.p.PodChanged(w.pod("a"))
				}
				time.Sleep(6 * time.Hour)
				if len(w.node.Destroyed()) > 0 {
					t.Fatalf("released %v while its owner lives", w.node.Destroyed())
				}
				w.owners.Set(ownership.Deleting, "S")
				time.Sleep(recheckMost + 2*recheckEvery)
				if len(w.node.Destroyed()) != 1 || w.pod("a") == nil {
					t.Errorf("released %v while its Pod lingers, want it soon after its owner", w.node.Destroyed())
				}
			})
		})
	}
}

func TestALingeringBarePodLosesItsSandboxAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.run("a", "P1", "")
		w.edit("a", lingering)
		w.owners.Set(ownership.Deleting, "P1")
		w.remove("a")
		if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonDeleted || len(w.node.Destroyed()) != 1 {
			t.Errorf("ended %t %q, released %v", ended, reason, w.node.Destroyed())
		}
	})
}

func TestTheControllerOfALingeringPodChanges(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		linger(w)
		w.owners.Set(ownership.Alive, "X")
		w.p.PodChanged(w.edit("a", handOver("X")))
		synctest.Wait()
		w.owners.Set(ownership.Gone, "S")
		time.Sleep(6 * time.Hour)
		c, _ := w.row("a")
		if uidOf(c.Owner) != "X" || len(w.node.Destroyed()) > 0 {
			t.Fatalf("kept for %q, released %v, want it kept for the new controller", uidOf(c.Owner), w.node.Destroyed())
		}
		w.owners.Set(ownership.Deleting, "X")
		time.Sleep(recheckMost + 2*recheckEvery)
		if len(w.node.Destroyed()) != 1 {
			t.Error("its new controller is deleted, and it is not released")
		}
	})
}

// The successor of a Pod that lingered adopts the sandbox.
func TestALingeringPodIsReplaced(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		linger(w)
		claim, _ := w.row("a")
		time.Sleep(time.Hour)
		w.leave(w.pod("a"), true)
		synctest.Wait()
		if next := w.run("a", "P2", "S"); next.ID != claim.ID || w.node.ClaimCount() != 1 {
			t.Errorf("it runs on %s after %d claims, want %s", next.ID, w.node.ClaimCount(), claim.ID)
		}
	})
}

// The removal of a deleted Pod is requested once per deletion, even if the deletion does
// not end, as for a Pod restored from a backup.
func TestTheRemovalOfADeletedPodIsAskedForOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		linger(w)
		restored := w.edit("a", func(p *corev1.Pod) { p.DeletionTimestamp, p.Status = nil, corev1.PodStatus{Phase: corev1.PodPending} })
		_ = w.p.UpdatePod(t.Context(), restored)
		time.Sleep(time.Minute)
		if w.phase("a") != corev1.PodRunning || w.removals != 1 {
			t.Errorf("a Pod that is not being deleted any more is %s, after %d removals", w.phase("a"), w.removals)
		}
		w.remove("a")
		w.p.PodChanged(w.pod("a"))
		time.Sleep(time.Minute)
		if w.removals != 2 {
			t.Errorf("%d removals for two deletions", w.removals)
		}
	})
}
