// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// controllerChanges has each way in which the controller of a live Pod can change; empty
// means no controller.
var controllerChanges = map[string]struct{ from, to types.UID }{
	"handed on": {"W", "S"},
	"adopted":   {"", "S"},
	"orphaned":  {"W", ""},
}

func TestTheClaimFollowsItsPodsController(t *testing.T) {
	for change, tc := range controllerChanges {
		for notice, notify := range map[string]func(w *world, pod *corev1.Pod){
			"by UpdatePod":  func(w *world, pod *corev1.Pod) { _ = w.p.UpdatePod(w.t.Context(), pod) },
			"by the watch":  func(w *world, pod *corev1.Pod) { w.p.PodChanged(pod); synctest.Wait() },
			"by nobody":     func(*world, *corev1.Pod) { time.Sleep(reconcileEvery + time.Second) },
			"while stopped": func(w *world, _ *corev1.Pod) { w.restart(); synctest.Wait() },
		} {
			t.Run(change+", noticed "+notice, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					w.run("a", "P1", tc.from)
					w.owners.Set(ownership.Alive, "S")
					if notice == "while stopped" {
						w.stop()
						w.stop = func() {}
					}
					notify(w, w.edit("a", handOver(tc.to)))
					authority := tc.to
					if authority == "" {
						authority = "P1"
					}
					now, _ := w.row("a")
					stored := w.stored()
					for where, c := range map[string]claims.Claim{"in memory": now, "in the file": stored} {
						if uidOf(c.Controller) != tc.to || c.Authority != authority || c.PodUID != "P1" || c.Owner != nil {
							t.Errorf("%s: controller %q, authority %q, Pod %q, owner %v", where, uidOf(c.Controller), c.Authority, c.PodUID, c.Owner)
						}
					}
					if w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
						t.Errorf("%d claims, released %v", w.node.ClaimCount(), w.node.Destroyed())
					}
				})
			})
		}
	}
}

// A deletion right after the change uses the new controller, although no call has
// reported the change.
func TestADeletionUsesTheLastController(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to types.UID
		alive    []types.UID
		kept     types.UID // the owner that it is kept for
	}{
		"handed on to one that lives":   {"W", "S", []types.UID{"S"}, "S"},
		"handed on to one that is gone": {"W", "S", []types.UID{"W"}, ""},
		"adopted by one that lives":     {"", "S", []types.UID{"S"}, "S"},
		"orphaned by one that lives":    {"W", "", []types.UID{"W"}, ""},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", after a restart"}[restarted], func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					claim := w.run("a", "P1", tc.from)
					if restarted {
						w.node.Set(func() { w.node.ListErr = fakes.Failing("list") })
						w.restart() // its Pod is not tracked and its claim is quarantined
					}
					w.owners.Set(ownership.Gone, "P1", "W", "S")
					w.owners.Set(ownership.Alive, tc.alive...)
					w.leave(w.edit("a", handOver(tc.to)), true)
					time.Sleep(time.Hour)
					c, held := w.row("a")
					switch {
					case tc.kept == "" && (held || len(w.node.Destroyed()) != 1):
						t.Errorf("held %t, released %v, want %s released", held, w.node.Destroyed(), claim.ID)
					case tc.kept != "" && (!held || uidOf(c.Owner) != tc.kept || len(w.node.Destroyed()) > 0):
						t.Errorf("kept for %q, released %v, want it kept for %s", uidOf(c.Owner), w.node.Destroyed(), tc.kept)
					}
				})
			})
		}
	}
}

// virtual-kubelet's calls can carry an object that is older than the last change of the
// Pod's controller.
func TestAnOlderObjectTakesNothingBack(t *testing.T) {
	for name, call := range map[string]func(w *world, older *corev1.Pod){
		"an update": func(w *world, older *corev1.Pod) { _ = w.p.UpdatePod(w.t.Context(), older) },
		"a create":  func(w *world, older *corev1.Pod) { _ = w.p.CreatePod(w.t.Context(), older) },
		"a deletion after the decision": func(w *world, older *corev1.Pod) {
			w.leave(w.pod("a"), true)
			synctest.Wait()
			_ = w.p.DeletePod(w.t.Context(), older)
		},
		"a deletion that was not observed": func(w *world, older *corev1.Pod) {
			w.forget(w.pod("a"))
			_ = w.p.DeletePod(w.t.Context(), older)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.run("a", "P1", "W")
				older := w.pod("a")
				w.owners.Set(ownership.Alive, "S")
				w.p.PodChanged(w.edit("a", handOver("S")))
				synctest.Wait()
				w.owners.Set(ownership.Gone, "W")
				call(w, older)
				if c, _ := w.row("a"); uidOf(c.Controller) != "S" {
					t.Errorf("the row names %q, want S", uidOf(c.Controller))
				}
				time.Sleep(time.Hour)
				if len(w.node.Destroyed()) > 0 {
					t.Errorf("released %v while its owner lives", w.node.Destroyed())
				}
			})
		})
	}
}

// If the controller changes while the Pod's claim is made, the new controller is
// recorded.
func TestAClaimIsRecordedForTheNewestController(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.owners.Set(ownership.Alive, "W", "S")
		older := w.add(fakes.NewPod("a", "P1", "W"))
		w.edit("a", handOver("S"))
		if err := w.p.CreatePod(t.Context(), older); err != nil {
			t.Fatal(err)
		}
		if c := w.stored(); uidOf(c.Controller) != "S" {
			t.Errorf("recorded for %q, want S", uidOf(c.Controller))
		}
	})
}

// A Pod gets another controller and is deleted while its claim is made. The claim belongs
// to the new controller, whose next Pod adopts it.
func TestAClaimThatArrivesForAPodThatHasGone(t *testing.T) {
	for name, replaced := range map[string]bool{"no Pod follows": false, "another follows at once": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.owners.Set(ownership.Alive, "W", "S")
				answer := make(chan struct{})
				w.node.Set(func() { w.node.Hang[namespace+"/a"] = answer })
				older := w.add(fakes.NewPod("a", "P1", "W"))
				done := make(chan struct{})
				go func() { _ = w.p.CreatePod(t.Context(), older); close(done) }()
				time.Sleep(time.Second)
				w.leave(w.edit("a", handOver("S")), true)
				w.node.Set(func() { delete(w.node.Hang, namespace+"/a") })
				if replaced {
					w.add(fakes.NewPod("a", "P2", "S"))
				}
				close(answer)
				<-done
				time.Sleep(time.Minute)
				if !replaced {
					_ = w.create(fakes.NewPod("a", "P2", "S"))
					time.Sleep(time.Minute)
				} else if err := w.p.CreatePod(t.Context(), w.pod("a")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				c, _ := w.row("a")
				if c.ID != "sb_1" || c.PodUID != "P2" || uidOf(c.Controller) != "S" || len(w.node.Destroyed()) > 0 || w.phase("a") != corev1.PodRunning {
					t.Errorf("%s of %s for %q, %s, released %v, want sb_1 adopted", c.ID, c.PodUID, uidOf(c.Controller), w.phase("a"), w.node.Destroyed())
				}
			})
		})
	}
}

// A Pod that a Sandbox took over from a warm pool is deleted while the daemon is down,
// and so is the pool.
func TestARestartUsesTheLastController(t *testing.T) {
	handedOn := func(w *world) claims.Claim {
		claim := w.run("a", "P1", "W")
		w.owners.Set(ownership.Alive, "S")
		w.edit("a", handOver("S"))
		time.Sleep(reconcileEvery + time.Second)
		w.stop()
		w.owners.Set(ownership.Gone, "W")
		w.forget(w.pod("a"))
		w.start()
		return claim
	}
	t.Run("without a replacement", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			handedOn(w)
			time.Sleep(time.Hour)
			if len(w.node.Destroyed()) > 0 {
				t.Fatalf("released %v while its owner lives", w.node.Destroyed())
			}
			w.owners.Set(ownership.Gone, "S")
			time.Sleep(recheckMost + missingGather + 2*recheckEvery)
			if len(w.node.Destroyed()) != 1 {
				t.Error("its owner is gone, and it is not released")
			}
		})
	})
	t.Run("with a replacement", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			claim := handedOn(w)
			_ = w.create(fakes.NewPod("a", "P2", "S"))
			time.Sleep(time.Hour)
			c, _ := w.row("a")
			if c.ID != claim.ID || c.PodUID != "P2" || w.phase("a") != corev1.PodRunning || w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
				t.Errorf("claim %s of %s, %s, %d claims, released %v", c.ID, c.PodUID, w.phase("a"), w.node.ClaimCount(), w.node.Destroyed())
			}
		})
	})
}

// A Pod of the first controller gets a sandbox of its own once another has taken the
// claim over.
func TestTheFirstControllerCannotAdoptAnyMore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "W")
		w.owners.Set(ownership.Alive, "S")
		w.leave(w.edit("a", handOver("S")), true)
		synctest.Wait()
		next := w.run("a", "P2", "W")
		if next.ID == claim.ID {
			t.Errorf("a Pod of W runs on %s, which belongs to S", claim.ID)
		}
	})
}

func TestAChangeOfControllerReachesAFileThatFailed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.run("a", "P1", "W")
		w.owners.Set(ownership.Alive, "S")
		w.fs.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		if err := w.p.UpdatePod(t.Context(), w.edit("a", handOver("S"))); err != nil {
			t.Errorf("a running Pod is taken for failed: %v", err)
		}
		time.Sleep(time.Minute)
		if c := w.stored(); uidOf(c.Controller) != "W" {
			t.Fatalf("the file names %q although it cannot be written", uidOf(c.Controller))
		}
		w.fs.SetFault(nil)
		time.Sleep(releaseRetry + time.Second)
		if c := w.stored(); uidOf(c.Controller) != "S" {
			t.Errorf("the file names %q", uidOf(c.Controller))
		}
	})
}
