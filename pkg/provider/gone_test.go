// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// A failed single read proves nothing about its own sandbox or about any other.
func TestOneFailingIDHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, b := w.run("a", "P1", "A"), w.run("b", "P2", "B")
		time.Sleep(fakes.DefaultLease - time.Second)
		w.node.Set(func() { w.node.GetErr[a.ID] = fakes.Failing("get") })
		w.node.Lose(a.ID, b.ID)
		time.Sleep(goneAfter + 2*leasesEvery)
		if _, ended := w.ended("b"); !ended {
			t.Error("b is not ended: the single read of a fails")
		}
		time.Sleep(12 * time.Hour)
		if _, ended := w.ended("a"); ended {
			t.Error("a is ended without an answer about it")
		}
		w.node.Set(func() { delete(w.node.GetErr, a.ID) })
		time.Sleep(goneAfter + 2*leasesEvery)
		if _, ended := w.ended("a"); !ended {
			t.Error("a is not ended with the answer")
		}
	})
}

// A sandboxd that restarts with the host has an incomplete index while it rebuilds it. A
// live Pod ends only if that takes longer than any rebuild.
func TestAnIndexThatIsRebuilt(t *testing.T) {
	for name, tc := range map[string]struct {
		takes time.Duration
		ends  bool
	}{
		"75 s":                {75 * time.Second, false},
		"just under the span": {goneAfter - verifyEvery, false},
		"longer":              {goneAfter + verifyEvery, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				kept := w.run("a", "P1", "A")
				w.remove("a")
				live := w.run("b", "P2", "B")
				w.node.Set(func() { w.node.Rebuilding = true })
				w.restart()
				_ = w.create(w.pod("b"))
				time.Sleep(tc.takes - time.Second)
				w.node.Set(func() { w.node.Rebuilding = false })
				time.Sleep(time.Minute)
				if c, held := w.row("a"); !held || c.ID != kept.ID || c.Token != kept.Token {
					t.Errorf("the claim that no Pod holds is %q, want it kept with its token", c.ID)
				}
				if _, ended := w.ended("b"); ended != tc.ends {
					t.Errorf("the live Pod ended: %t, want %t", ended, tc.ends)
				}
				if c, held := w.row("b"); !held || c.Token != live.Token {
					t.Error("the live Pod's token is lost")
				}
				if len(w.node.Destroyed()) > 0 || w.node.ClaimCount() != 2 {
					t.Errorf("released %v, %d claims", w.node.Destroyed(), w.node.ClaimCount())
				}
			})
		})
	}
}

// An unreachable sandboxd ends every unconfirmed absence: it may have restarted with an
// empty index.
func TestARestartOfSandboxdEndsAnAbsence(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.run("a", "P1", "A")
		w.node.Set(func() { w.node.Rebuilding = true })
		w.restart()
		_ = w.create(w.pod("a"))
		time.Sleep(goneAfter - time.Minute)
		w.node.Set(func() { w.node.ListErr = fakes.Unreachable() })
		time.Sleep(2 * verifyEvery)
		w.node.Set(func() { w.node.ListErr = nil })
		time.Sleep(goneAfter - time.Minute)
		if _, ended := w.ended("a"); ended {
			t.Fatal("ended, although each absence was shorter than the span")
		}
		time.Sleep(2 * time.Minute)
		if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLost {
			t.Errorf("ended %t %q", ended, reason)
		}
	})
}

// A claim without a Pod keeps its credential until its lease and the margin have passed,
// even if sandboxd confirms all the time that the sandbox is gone.
func TestAClaimWithoutAPodOutlivesItsLease(t *testing.T) {
	for name, restarted := range map[string]bool{"same daemon": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				claim := preserve(w)
				w.node.Lose(claim.ID)
				if restarted {
					w.restart()
				}
				time.Sleep(time.Until(claim.LeaseEnd()) + rowMargin - leasesEvery)
				if c, held := w.row("a"); !held || c.Token != claim.Token {
					t.Fatal("the credential is dropped before the margin is over")
				}
				time.Sleep(goneAfter + 3*leasesEvery)
				if c, held := w.row("a"); held {
					t.Errorf("a claim that is over is still %s", c.State)
				}
				if w.events.Count(podstatus.ReasonLeaseExpired) != 1 || len(w.node.Destroyed()) > 0 {
					t.Errorf("%d events, released %v", w.events.Count(podstatus.ReasonLeaseExpired), w.node.Destroyed())
				}
			})
		})
	}
}

// The row of an ended Pod stays until its deletion, and is not checked again.
func TestTheRowOfAnEndedPodStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "S")
		time.Sleep(fakes.DefaultLease + leasesEvery)
		if _, ended := w.ended("a"); !ended {
			t.Fatal("the Pod has not ended")
		}
		time.Sleep(48 * time.Hour)
		if c, held := w.row("a"); !held || c.ID != claim.ID || c.State != claims.Bound || w.phase("a") != corev1.PodFailed {
			t.Errorf("held %t, %s, %s", held, c.State, w.phase("a"))
		}
		if got := w.events.Count(podstatus.ReasonLeaseExpired); got != 1 {
			t.Errorf("%d events", got)
		}
	})
}
