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
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

const shortLease = 10 * time.Minute

// shortLived runs a Pod whose lease is short.
func shortLived(w *world) {
	w.node.Set(func() { w.node.Lease = shortLease })
	w.run("a", "P1", "S")
	w.node.Set(func() { w.node.Lease = fakes.DefaultLease })
}

// One observation suffices to end a Pod whose lease ended, if nothing makes it doubtful.
func TestALeaseThatEndedEndsItsPod(t *testing.T) {
	for name, others := range map[string]bool{"alone": false, "beside another": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				shortLived(w)
				if others {
					w.run("b", "P2", "T")
				}
				time.Sleep(shortLease - time.Second)
				if _, ended := w.ended("a"); ended {
					t.Fatal("ended before its lease")
				}
				time.Sleep(time.Second + leasesEvery)
				synctest.Wait()
				if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLeaseExpired {
					t.Errorf("ended %t %q 10 s after its lease", ended, reason)
				}
				if _, ended := w.ended("b"); ended {
					t.Error("the other Pod ended")
				}
			})
		})
	}
}

// A Pod gets one warning before its lease ends, whatever restarts.
func TestALeaseThatEndsSoonIsWarnedOf(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		shortLived(w)
		w.run("b", "P2", "T")
		time.Sleep(shortLease - shortLease/4 - leasesEvery)
		synctest.Wait()
		if n := w.events.Count(events.ReasonLeaseEnding); n > 0 || w.p.LeasesEnding() > 0 {
			t.Errorf("%d warnings too early, %d end soon", n, w.p.LeasesEnding())
		}
		time.Sleep(2 * leasesEvery)
		w.restart()
		time.Sleep(2 * leasesEvery)
		synctest.Wait()
		a, _ := w.row("a")
		b, _ := w.row("b")
		if w.p.LeasesEnding() != 1 || !w.p.LeaseEnding(a) || w.p.LeaseEnding(b) {
			t.Errorf("%d end soon", w.p.LeasesEnding())
		}
		for object, want := range map[string]int{"Pod/a": 1, "Sandbox/of-S": 1, "Pod/b": 0} {
			of := w.events.Of(object)
			if n := len(of) - len(slices.DeleteFunc(slices.Clone(of), func(r string) bool { return r == events.ReasonLeaseEnding })); n != want {
				t.Errorf("%d warnings on %s, want %d", n, object, want)
			}
		}
		time.Sleep(shortLease)
		synctest.Wait()
		if _, ended := w.ended("a"); !ended || w.p.LeasesEnding() > 0 {
			t.Errorf("ended %t, %d end soon", ended, w.p.LeasesEnding())
		}
	}, func(c *Config) { c.LeaseWarning = time.Hour })
}

// If the first observation is doubtful, the Pod ends only after a long absence.
func TestALeaseThatMayNotHaveEnded(t *testing.T) {
	for name, doubt := range map[string]func(w *world){
		// 90 s before the lease ends
		"missing before the lease ended": func(w *world) {
			missing, _ := w.row("a")
			time.Sleep(time.Minute)
			w.node.Lose(missing.ID)
			time.Sleep(30 * time.Second)
		},
		"another running sandbox is missing": func(w *world) {
			other, _ := w.row("b")
			w.node.Lose(other.ID)
			time.Sleep(90 * time.Second)
		},
		"a list has failed": func(w *world) {
			w.remove("b")
			time.Sleep(45 * time.Second)
			w.node.Set(func() { w.node.ListErr = fakes.Failing("list") })
			time.Sleep(leasesEvery)
			w.node.Set(func() { w.node.ListErr = nil })
			time.Sleep(90*time.Second - 45*time.Second - leasesEvery)
		},
		"sandboxd was away": func(w *world) {
			w.remove("b")
			time.Sleep(45 * time.Second)
			w.node.Set(func() { w.node.ListErr = fakes.Unreachable() })
			time.Sleep(45 * time.Second)
			w.node.Set(func() { w.node.ListErr = nil })
		},
		"sandboxd was away and lists another": func(w *world) {
			time.Sleep(45 * time.Second)
			w.node.Set(func() { w.node.ListErr = fakes.Unreachable() })
			time.Sleep(45 * time.Second)
			w.node.Set(func() { w.node.ListErr = nil })
		},
		"not listed since the start": func(w *world) {
			time.Sleep(89 * time.Second)
			w.stop()
			time.Sleep(time.Second)
			w.start()
			_ = w.create(w.pod("a"))
			_ = w.create(w.pod("b"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				shortLived(w)
				w.run("b", "P2", "")
				w.owners.Set(ownership.Deleting, "P2")
				time.Sleep(shortLease - 90*time.Second)
				doubt(w)
				time.Sleep(time.Minute)
				if _, ended := w.ended("a"); ended {
					t.Fatal("ended by the first look")
				}
				time.Sleep(goneAfter)
				if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLeaseExpired {
					t.Errorf("ended %t %q after a long absence", ended, reason)
				}
			})
		})
	}
}

// A listed sandbox is alive, whatever its cached lease.
func TestALeaseThatMoved(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		shortLived(w)
		claim, _ := w.row("a")
		moved := time.Now().Add(2 * time.Hour)
		w.node.Set(func() {
			w.node.Sandboxes[claim.ID] = sandboxd.Sandbox{ID: claim.ID, Deadline: moved, ClaimRef: claim.Key}
		})
		time.Sleep(shortLease + time.Minute)
		if c, _ := w.row("a"); !c.Deadline.Equal(moved) || w.phase("a") != corev1.PodRunning {
			t.Errorf("lease until %v, %s, want it until %v", c.Deadline, w.phase("a"), moved)
		}
		time.Sleep(2 * time.Hour)
		if _, ended := w.ended("a"); !ended {
			t.Error("not ended with its new lease")
		}
	})
}

func TestAClaimWithoutADeadline(t *testing.T) {
	withoutDeadline := func(c *sandboxd.Claim) { c.Deadline = time.Time{} }
	t.Run("gets it from the list", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			w.node.Set(func() { w.node.Next = withoutDeadline })
			claim, end := w.run("a", "P1", "S"), time.Now().Add(time.Hour)
			w.node.Set(func() { w.node.Sandboxes[claim.ID] = sandboxd.Sandbox{ID: claim.ID, Deadline: end} })
			time.Sleep(leasesEvery + time.Second)
			if c, _ := w.row("a"); !c.Deadline.Equal(end) {
				t.Errorf("lease until %v, want %v", c.Deadline, end)
			}
		})
	})
	t.Run("ends when its sandbox does", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			w.node.Set(func() { w.node.Next = withoutDeadline })
			claim := w.run("a", "P1", "S")
			time.Sleep(time.Hour)
			w.node.Lose(claim.ID)
			time.Sleep(goneAfter + 2*leasesEvery)
			if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLost {
				t.Errorf("ended %t %q, want it lost", ended, reason)
			}
		})
	})
}
