// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

func TestInterruptedClaimLeavesOneVM(t *testing.T) {
	t.Run("the answer is lost", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse, Count: 1})
			id := w.run(nb)
			w.Wait(10 * time.Minute)
			c := w.counters()
			if c.AnswersLost != 1 || c.Claimed != 2 || len(w.released()) != 0 || w.running(nb) != id {
				t.Errorf("counters %+v, released %v; want one stray, kept, and one bound", c, w.released())
			}
			if log := w.Log.String(); strings.Count(log, "stray claim") != 1 || !strings.Contains(log, "claimRef="+nb) {
				t.Error("the stray is not reported once with its claim_ref")
			}
		})
	})
	t.Run("pod and sandbox are deleted meanwhile", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionDelay, Delay: metav1.Duration{Duration: 40 * time.Second}, Count: 1})
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "86400")
			w.Wait(5 * time.Second)
			w.API.DeleteOwner(nb, false)
			w.API.DeletePod(nb)
			w.Wait(2 * time.Minute)
			if got := w.released(); len(got) != 1 || len(w.Table().List())+len(w.Table().Releasing()) != 0 {
				t.Errorf("released %v, rows %d; want one release and no row", got, len(w.Table().List()))
			}
		})
	})
	t.Run("the request's deadline passes first", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionDelay, Delay: metav1.Duration{Duration: 70 * time.Second}, Count: 1})
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "86400")
			w.Wait(10 * time.Minute)
			w.running(nb)
			if c := w.counters(); c.Claimed-c.AnswersLost != 1 {
				t.Errorf("counters %+v; want one bound and the rest reported as lost answers", c)
			}
		})
	})
}

func TestShortageIsRetried(t *testing.T) {
	for name, statuses := range map[string][]int{
		"429 503 503":  {429, 503, 503},
		"429 30 times": make([]int, 30),
		"unreachable":  {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				for _, status := range statuses {
					f := fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: status, Count: 1}
					switch {
					case name == "unreachable":
						f.Action = fault.ActionDrop
					case status == 0:
						f.Status = 429
					}
					w.fault(f)
				}
				w.API.CreateOwner(nb)
				w.API.CreatePod(nb, false, "86400")
				w.Wait(10 * time.Millisecond)
				if p := w.API.Pod(nb); p.Status.Phase != corev1.PodPending || p.Status.Message == "" {
					t.Errorf("during the shortage: %s", w.describe(nb))
				}
				w.Wait(30 * time.Minute)
				w.running(nb)
				if c := w.counters(); c.Claimed != 1 {
					t.Errorf("%d claims, want 1", c.Claimed)
				}
			})
		})
	}
}

func TestRestartWithManyClaims(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		const pods = 2000
		for i := range pods {
			key := fmt.Sprintf("team-red/n-%d", i)
			w.API.CreateOwner(key)
			w.API.CreatePod(key, false, "86400")
		}
		w.Wait(time.Minute)
		w.Stop()
		calls := w.API.Calls()
		before := w.Sandboxd.Requests.List(history.RequestFilter{}).Counts
		writes := w.FS.Renames()
		w.mustStart()
		w.Wait(time.Minute)
		for i := range pods {
			w.running(fmt.Sprintf("team-red/n-%d", i))
		}
		after := w.Sandboxd.Requests.List(history.RequestFilter{}).Counts
		if got := after["claim"] - before["claim"]; got != 0 {
			t.Errorf("%d claims after a restart", got)
		}
		if got := after["list"] - before["list"]; got > 5 {
			t.Errorf("%d listings of the node in the first minute", got)
		}
		if got := w.API.Calls() - calls; got != 0 {
			t.Errorf("%d reads and deletes at the API server although nothing had changed", got)
		}
		if got := w.FS.Renames() - writes; got != 1 {
			t.Errorf("%d writes of the table, want the one at the start", got)
		}
	})
}

func TestManyPodsCreatedAtOnce(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		full := 1
		if err := w.Sandboxd.SetCapacity(host.Capacity{MaxClaims: &full, RetryAfter: ptr(metav1.Duration{Duration: 30 * time.Second})}); err != nil {
			t.Fatal(err)
		}
		posts := w.posts()
		for i := range 300 {
			key := fmt.Sprintf("team-red/n-%d", i)
			w.API.CreateOwner(key)
			w.API.CreatePod(key, false, "86400")
		}
		w.Wait(15 * time.Minute)
		w.API.DeleteOwner(nb, false)
		w.API.DeletePod(nb)
		w.Wait(time.Second)
		if w.lives(id) {
			t.Error("a release waits behind creates that fail")
		}
		w.Wait(15 * time.Minute)
		// 30 minutes of waits of 30 seconds; a burst of those that were on
		// their way when the first refusal came counts once.
		if got := w.posts() - posts; got > 60+300 {
			t.Errorf("%d claims were asked for in 30 minutes of refusals with Retry-After 30", got)
		}
		messages := map[string]bool{}
		for _, p := range w.API.Pods() {
			if p.Status.Phase == corev1.PodPending {
				messages[p.Status.Message] = true
			}
		}
		if texts := w.Events.messages("SandboxRefused"); len(texts) != 1 {
			t.Errorf("the owners get %d different texts, so events do not aggregate: %q", len(texts), texts)
		}
		if len(messages) != 1 {
			t.Errorf("the refusals have %d texts, so events do not aggregate: %v", len(messages), messages)
		}
	})
}
