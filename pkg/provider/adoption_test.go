// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/attempts"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// preserve runs a Pod and deletes it while its owner lives.
func preserve(w *world) claims.Claim {
	w.t.Helper()
	claim := w.run("a", "P1", "S")
	w.remove("a")
	if c, _ := w.row("a"); c.State != claims.Preserved || w.pod("a") != nil {
		w.t.Fatalf("the claim is %s", c.State)
	}
	return claim
}

func TestAnAdoptingPodRunsOnTheKeptSandbox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := preserve(w)
		time.Sleep(time.Hour)
		if next := w.run("a", "P2", "S"); next.ID != claim.ID || w.node.ClaimCount() != 1 || w.events.Count(events.ReasonAdopted) != 1 {
			t.Errorf("it runs on %s after %d claims, with %d events, want %s", next.ID, w.node.ClaimCount(), w.events.Count(events.ReasonAdopted), claim.ID)
		}
	})
}

// A Pod whose adoption could not be recorded never had the sandbox. The sandbox stays
// with its owner when that Pod gets another controller and is deleted.
func TestAnAdoptionThatWasNotRecordedTakesNothingAlong(t *testing.T) {
	for name, undone := range map[string]bool{"the disk works again": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				claim := preserve(w)
				w.owners.Set(ownership.Alive, "T")
				w.fs.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
				if err := w.create(fakes.NewPod("a", "P2", "S")); err == nil {
					t.Fatal("an adoption counts that was not recorded")
				}
				w.leave(w.edit("a", handOver("T")), true)
				synctest.Wait()
				w.fs.SetFault(nil)
				if undone {
					w.restart()
				}
				time.Sleep(time.Hour)
				if c, held := w.row("a"); !held || c.ID != claim.ID || uidOf(c.Owner) != "S" || len(w.node.Destroyed()) > 0 {
					t.Fatalf("held %t %s for %q, released %v, want %s kept for S", held, c.ID, uidOf(c.Owner), w.node.Destroyed(), claim.ID)
				}
				w.owners.Set(ownership.Gone, "S")
				time.Sleep(recheckMost + missingGather + 2*recheckEvery)
				if len(w.node.Destroyed()) != 1 {
					t.Error("its owner is gone, and it is not released")
				}
			})
		})
	}
}

// A sandbox that ended before its lease is replaced once that is certain, and an event
// reports it. Its credential is kept until sandboxd has confirmed the release.
func TestAnAdoptingPodIsGivenNoDeadSandbox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := preserve(w)
		w.node.Lose(claim.ID)
		w.node.Set(func() { w.node.ReleaseErr[claim.ID] = fakes.Failing("release") })
		time.Sleep(time.Hour)
		if err := w.create(fakes.NewPod("a", "P2", "S")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(goneAfter - 10*time.Second)
		if w.node.ClaimCount() != 1 || w.phase("a") != corev1.PodPending || w.events.Count(podstatus.ReasonLost) > 0 {
			t.Fatalf("%d claims, %s, before the loss is certain", w.node.ClaimCount(), w.phase("a"))
		}
		time.Sleep(30 * time.Second)
		c, _ := w.row("a")
		if c.ID == claim.ID || c.PodUID != "P2" || w.phase("a") != corev1.PodRunning {
			t.Fatalf("claim %s of %s, %s, want a new one", c.ID, c.PodUID, w.phase("a"))
		}
		if got := w.events.Count(podstatus.ReasonLost); got != 1 {
			t.Errorf("%d events say that the sandbox was lost", got)
		}
		time.Sleep(time.Hour)
		if r := w.p.table.Releasing(); len(r) != 1 || r[0].ID != claim.ID || r[0].Token != claim.Token {
			t.Fatalf("releasing %v, want %s with its token", r, claim.ID)
		}
		w.node.Set(func() { delete(w.node.ReleaseErr, claim.ID) })
		time.Sleep(goneAfter + 2*releaseRetry)
		if r := w.p.table.Releasing(); len(r) != 0 || w.node.ClaimCount() != 2 {
			t.Errorf("releasing %v, %d claims", r, w.node.ClaimCount())
		}
	})
}

// After an answer that proves nothing about the sandbox, the Pod waits.
func TestAnAdoptingPodWaitsForAnAnswer(t *testing.T) {
	for name, unanswered := range map[string]func(*fakes.Sandboxd, string){
		"its single read fails":            func(n *fakes.Sandboxd, id string) { n.GetErr[id] = fakes.Failing("get") },
		"it is missing and no list is had": func(n *fakes.Sandboxd, _ string) { n.Rebuilding, n.ListErr = true, fakes.Failing("list") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				claim := preserve(w)
				w.node.Set(func() { unanswered(w.node, claim.ID) })
				if err := w.create(fakes.NewPod("a", "P2", "S")); err != nil {
					t.Fatalf("virtual-kubelet would overwrite its status: %v", err)
				}
				time.Sleep(6 * time.Hour)
				if c, _ := w.row("a"); c.PodUID != "P1" || w.phase("a") != corev1.PodPending || w.node.ClaimCount() != 1 {
					t.Fatalf("the claim is %s's, the Pod %s, after %d claims", c.PodUID, w.phase("a"), w.node.ClaimCount())
				}
				w.node.Set(func() { delete(w.node.GetErr, claim.ID); w.node.Rebuilding, w.node.ListErr = false, nil })
				time.Sleep(attempts.First + verifyEvery)
				if c, _ := w.row("a"); c.ID != claim.ID || c.PodUID != "P2" || w.phase("a") != corev1.PodRunning {
					t.Errorf("claim %s of %s, %s, want it adopted with the answer", c.ID, c.PodUID, w.phase("a"))
				}
			})
		})
	}
}

// A loss that is already certain needs no second wait.
func TestAConfirmedLossIsReplacedAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "S")
		w.stop()
		w.node.Lose(claim.ID)
		w.start()
		if err := w.create(w.pod("a")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(goneAfter + 2*verifyEvery)
		if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLost {
			t.Fatalf("ended %t %q", ended, reason)
		}
		time.Sleep(time.Hour)
		w.remove("a")
		time.Sleep(time.Hour)
		if next := w.run("a", "P2", "S"); next.ID == claim.ID {
			t.Error("the Pod runs on the sandbox that was lost")
		}
	})
}
