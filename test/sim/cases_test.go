// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
)

// The tests named after a case (B02, B04, ...) replay a fault that people have
// reported about software of this kind.

const nb = "team-red/notebook-a"

// play runs a scenario in a world of its own with a running daemon. The
// model's rules hold at its end, whatever the scenario itself asserts.
func play(t *testing.T, scenario func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := NewWorld(t, 1, 4)
		defer w.Close()
		w.mustStart()
		scenario(t, w)
		for _, v := range w.model.check() {
			t.Error(v)
		}
	})
}

func (w *World) mustStart() {
	w.t.Helper()
	if err := w.Start(); err != nil {
		w.t.Fatal(err)
	}
}

// run makes a Sandbox with a Pod and waits until it runs.
func (w *World) run(key string) (claim string) {
	w.t.Helper()
	w.API.CreateOwner(key)
	w.API.CreatePod(key, false, "86400")
	w.Wait(2 * time.Second)
	return w.running(key)
}

// running returns the claim of a Pod, which has to be Running.
func (w *World) running(key string) string {
	w.t.Helper()
	p := w.API.Pod(key)
	if p == nil || p.Status.Phase != corev1.PodRunning {
		w.t.Fatalf("%s is not running: %s", key, w.describe(key))
	}
	return podcontract.PublishedClaim(p)
}

func (w *World) describe(key string) string {
	p := w.API.Pod(key)
	if p == nil {
		return "there is no such pod"
	}
	return fmt.Sprintf("%s %s %s: %s", p.UID, p.Status.Phase, p.Status.Reason, p.Status.Message)
}

func (w *World) counters() sandboxdsim.Counters {
	return w.Sandboxd.Truth(sandboxdsim.EventFilter{After: 1 << 62}).Counters
}

// posts is how many claims were asked for.
func (w *World) posts() int {
	return w.Sandboxd.Requests(sandboxdsim.RequestFilter{Endpoint: "claim"}).Counts["claim"]
}

func (w *World) fault(f sandboxdsim.Fault) {
	w.t.Helper()
	if _, err := w.Sandboxd.AddFault(f); err != nil {
		w.t.Fatal(err)
	}
}

func (w *World) released() (ids []string) {
	for _, e := range w.Sandboxd.Truth(sandboxdsim.EventFilter{Type: sandboxdsim.EventReleased}).Events {
		ids = append(ids, e.Sandbox)
	}
	return ids
}

func TestB02DiskFull(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		a, b := w.run("team-red/a"), w.run("team-red/b")
		w.FS.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpWrite {
				return errDisk
			}
			return nil
		})
		posts := w.posts()
		w.API.CreateOwner("team-red/d")
		w.API.CreatePod("team-red/d", false, "86400")
		w.Wait(10 * time.Minute)
		if d := w.API.Pod("team-red/d"); d.Status.Phase != corev1.PodPending || !strings.Contains(d.Status.Message, "claims table") {
			t.Errorf("pod d on a full disk: %s", w.describe("team-red/d"))
		}
		if got := w.posts() - posts; got != 1 {
			t.Errorf("%d claims were made that nobody could record, want the first alone", got)
		}
		if got := len(w.released()); got != 1 {
			t.Errorf("%d sandboxes were given back, want 1", got)
		}
		if w.running("team-red/b") != b || !w.lives(b) {
			t.Error("a full disk touched a running pod")
		}
		// A release is still possible, and converges after a restart.
		w.API.DeleteOwner("team-red/a", false)
		w.API.DeletePod("team-red/a")
		w.Wait(time.Minute)
		if w.lives(a) || w.API.Pod("team-red/a") != nil {
			t.Errorf("a's sandbox lives %v, pod: %s", w.lives(a), w.describe("team-red/a"))
		}
		w.FS.SetFault(nil)
		w.Wait(time.Minute)
		w.running("team-red/d")
		if rows := w.Table().List(); len(rows) != 2 {
			t.Errorf("%d rows once the disk works, want b and d", len(rows))
		}
	})
}

func TestB04RebootAndAbsentSandboxd(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		kept, lost := w.run("team-red/kept"), w.run("team-red/lost")
		w.Crash(true)
		if err := w.Sandboxd.Lose(lost); err != nil {
			t.Fatal(err)
		}
		if err := w.Sandboxd.Restart(sandboxdsim.RestartOptions{Down: sandboxdsim.Duration(90 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		posts := w.posts()
		w.mustStart()
		published := 0
		w.daemon.kubelet.observe = func(p *corev1.Pod) { published++; w.model.published(p) }
		w.Wait(80 * time.Second)
		if published != 0 {
			t.Errorf("%d statuses were published before sandboxd vouched for anything", published)
		}
		for _, c := range w.Table().List() {
			if c.State != claims.Quarantined {
				t.Errorf("%s is %s before sandboxd vouched for it", c.Key, c.State)
			}
		}
		w.Wait(5 * time.Minute)
		if w.running("team-red/kept") != kept {
			t.Error("the kept sandbox was replaced")
		}
		if p := w.API.Pod("team-red/lost"); p.Status.Phase != corev1.PodFailed || p.Status.Reason != podcontract.ReasonLost {
			t.Errorf("the pod of a lost VM: %s", w.describe("team-red/lost"))
		}
		if got := w.posts() - posts; got != 0 {
			t.Errorf("%d new claims under the same pods", got)
		}
	})
}

func TestB05PodsThatTheAPIDoesNotShow(t *testing.T) {
	for _, tc := range []struct {
		name string
		hide func(w *World)
	}{
		{"the api is away and then shows no pods", func(w *World) { w.API.SetMood(Refusing) }},
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
				w.API.SetMood(Well)
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

func TestB06MassEviction(t *testing.T) {
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

func TestB07LateDeleteOfAnOldGeneration(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		old := w.API.Pod(nb).DeepCopy()
		w.API.DeletePod(nb)
		w.Wait(2 * time.Second)
		w.API.CreatePod(nb, false, "86400")
		w.Wait(28 * time.Second)
		if err := w.daemon.provider.DeletePod(w.daemon.kubelet.ctx, old); err != nil {
			t.Errorf("a late delete of an old generation is an error: %v", err)
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

func TestB08ClaimInFlight(t *testing.T) {
	t.Run("the answer is lost", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(sandboxdsim.Fault{Endpoint: "claim", Action: sandboxdsim.ActionDrop, Point: sandboxdsim.PointResponse, Count: 1})
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
			w.fault(sandboxdsim.Fault{Endpoint: "claim", Action: sandboxdsim.ActionDelay, Delay: sandboxdsim.Duration(40 * time.Second), Count: 1})
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
	t.Run("our deadline passes first", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(sandboxdsim.Fault{Endpoint: "claim", Action: sandboxdsim.ActionDelay, Delay: sandboxdsim.Duration(70 * time.Second), Count: 1})
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

func TestB09ShortageIsNotFinal(t *testing.T) {
	for name, statuses := range map[string][]int{
		"429 503 503":  {429, 503, 503},
		"429 30 times": make([]int, 30),
		"unreachable":  {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				for _, status := range statuses {
					f := sandboxdsim.Fault{Endpoint: "claim", Action: sandboxdsim.ActionStatus, Status: status, Count: 1}
					switch {
					case name == "unreachable":
						f.Action = sandboxdsim.ActionDrop
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

func TestB10LongOutage(t *testing.T) {
	t.Run("sandboxd refuses for two hours", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			id := w.run(nb)
			if err := w.Sandboxd.Restart(sandboxdsim.RestartOptions{Down: sandboxdsim.Duration(2 * time.Hour)}); err != nil {
				t.Fatal(err)
			}
			w.API.DeleteOwner(nb, true)
			w.API.DeletePod(nb)
			w.Wait(time.Hour)
			if c, ok := w.Table().Get(nb); !ok || c.ID != id {
				t.Fatal("the row is gone before the node has confirmed")
			}
			w.Wait(90 * time.Minute)
			if w.lives(id) || w.API.Pod(nb) != nil || len(w.Table().List()) != 0 {
				t.Errorf("after recovery: sandbox lives %v, pod %s", w.lives(id), w.describe(nb))
			}
		})
	})
	t.Run("a lease ends while the api is away", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			w.running(nb)
			w.API.SetMood(Refusing)
			w.Wait(20 * time.Minute)
			w.API.SetMood(Well)
			w.Wait(time.Minute)
			if p := w.API.Pod(nb); p.Status.Phase != corev1.PodFailed || p.Status.Reason != podcontract.ReasonLeaseExpired {
				t.Errorf("after the outage: %s", w.describe(nb))
			}
		})
	})
}

func TestB11LeaseEnd(t *testing.T) {
	t.Run("a lease that was extended on the node", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			id := w.running(nb)
			if err := w.Sandboxd.MoveLease(id, time.Now().Add(6*time.Hour)); err != nil {
				t.Fatal(err)
			}
			lists := w.Sandboxd.Requests(sandboxdsim.RequestFilter{}).Counts["list"]
			w.Wait(time.Hour)
			if w.running(nb) != id {
				t.Error("the sandbox was replaced")
			}
			// One listing refreshes the cached deadline; the rest are the
			// audit's, once a minute.
			if got := w.Sandboxd.Requests(sandboxdsim.RequestFilter{}).Counts["list"] - lists; got > 65 {
				t.Errorf("%d listings in an hour: the watch spins", got)
			}
		})
	})
	t.Run("a node that cannot be listed defers", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			id := w.running(nb)
			w.fault(sandboxdsim.Fault{Endpoint: "list", Action: sandboxdsim.ActionStatus, Status: 500})
			w.Wait(time.Hour)
			if w.running(nb) != id {
				t.Error("the pod was touched on the strength of the clock")
			}
			w.Sandboxd.ClearFaults()
			w.Wait(3 * time.Minute)
			if p := w.API.Pod(nb); p.Status.Reason != podcontract.ReasonLeaseExpired {
				t.Errorf("once the node answers: %s", w.describe(nb))
			}
		})
	})
}

func TestB12RestartAtScale(t *testing.T) {
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
		before := w.Sandboxd.Requests(sandboxdsim.RequestFilter{}).Counts
		writes := w.FS.Renames()
		w.mustStart()
		w.Wait(time.Minute)
		for i := range pods {
			w.running(fmt.Sprintf("team-red/n-%d", i))
		}
		after := w.Sandboxd.Requests(sandboxdsim.RequestFilter{}).Counts
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

func TestB13Storm(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		full := 1
		if err := w.Sandboxd.SetCapacity(sandboxdsim.Capacity{MaxClaims: &full, RetryAfter: ptr(sandboxdsim.Duration(30 * time.Second))}); err != nil {
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
		if len(messages) != 1 {
			t.Errorf("the refusals have %d texts, so events do not aggregate: %v", len(messages), messages)
		}
	})
}

func TestB20TokensStayIn(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		token, err := w.Sandboxd.Token(id)
		if err != nil {
			t.Fatal(err)
		}
		w.fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 500, Message: token + rootToken, Count: 40})
		w.fault(sandboxdsim.Fault{Action: sandboxdsim.ActionRejectToken, Count: 5})
		w.API.CreatePod("team-red/bare", true, "86400")
		w.API.DeleteOwner(nb, false)
		w.API.DeletePod(nb)
		w.Wait(10 * time.Minute)
		if !strings.Contains(w.Log.String(), "sandboxd") {
			t.Fatal("the log says nothing; this test would not see a leak")
		}
		// The model looks through every log line, status and request.
	})
}

func TestB21SuspendedIsNotExpired(t *testing.T) {
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

// Spares.

func TestPodWithoutAClaimIsDeleted(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.fault(sandboxdsim.Fault{Endpoint: "claim", Action: sandboxdsim.ActionStatus, Status: 429})
		w.API.CreatePod(nb, true, "86400")
		w.Wait(10 * time.Second)
		w.API.DeletePod(nb)
		w.Wait(10 * time.Second)
		if w.API.Pod(nb) != nil || len(w.released()) != 0 {
			t.Errorf("pod: %s, released %v", w.describe(nb), w.released())
		}
	})
}

func TestRefusedTokenIsNeverGone(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		id := w.run(nb)
		w.fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 401})
		w.API.DeleteOwner(nb, false)
		w.API.DeletePod(nb)
		w.Wait(time.Hour)
		if _, ok := w.Table().Get(nb); !ok {
			t.Fatal("a refused token dropped the row")
		}
		w.Sandboxd.ClearFaults()
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

func ptr[T any](v T) *T { return &v }
