// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/attempts"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// retryLimit is how long each Pod of the node waits at most until it is served or tried
// again.
const retryLimit = 5 * time.Minute

// A Pod that replaces another without the library noticing is served, also when the
// first attempt fails.
func TestASuccessorThatCameAsAnUpdate(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"of a Pod that runs": func(w *world) {},
		"of a Pod whose claim is quarantined": func(w *world) {
			w.node.Set(func() { w.node.ListErr = fakes.Failing("list") })
			w.restart()
			_ = w.create(w.pod("a"))
			w.node.Set(func() { w.node.ListErr = nil })
		},
		"of a Pod that ended": func(w *world) { time.Sleep(fakes.DefaultLease + leasesEvery) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				old := w.run("a", "P1", "A")
				prepare(w)
				w.owners.Set(ownership.Gone, "A")
				w.owners.Set(ownership.Alive, "B")
				w.node.Set(func() { w.node.ClaimErr = fakes.NoCapacity() })
				w.p.PodGone(w.pod("a"), false)
				w.add(fakes.NewPod("a", "P2", "B"))
				time.Sleep(retryLimit)
				if w.node.ClaimCount() < 2 {
					t.Fatal("no claim was asked for")
				}
				w.node.Set(func() { w.node.ClaimErr = nil })
				time.Sleep(retryLimit)
				if c, _ := w.row("a"); c.PodUID != "P2" || c.ID == old.ID || w.phase("a") != corev1.PodRunning {
					t.Errorf("claim %s of %s, the Pod is %s", c.ID, c.PodUID, w.phase("a"))
				}
			})
		})
	}
}

// A Pod that the library never hands over is served too.
func TestAPodThatNobodyHandedOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.owners.Set(ownership.Alive, "A")
		w.add(fakes.NewPod("a", "P1", "A"))
		time.Sleep(attempts.LibraryPatience - time.Second)
		if w.node.ClaimCount() > 0 {
			t.Error("the library was not given the first turn")
		}
		time.Sleep(retryLimit - attempts.LibraryPatience)
		if w.phase("a") != corev1.PodRunning {
			t.Errorf("after %v it is %s", retryLimit, w.phase("a"))
		}
	})
}

// Without capacity, a Pod that the library takes for served costs sandboxd no more than
// the library's own back-off would.
func TestAttemptsBackOff(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := preserve(w)
		w.restart()
		w.node.Lose(claim.ID)
		if err := w.create(fakes.NewPod("a", "P2", "S")); err != nil {
			t.Fatal(err)
		}
		w.node.Set(func() { w.node.ClaimErr = fakes.NoCapacity() })
		time.Sleep(goneAfter + time.Minute)
		before := w.node.ClaimCount()
		time.Sleep(time.Hour)
		if posts := w.node.ClaimCount() - before; posts > 150 || posts < int(time.Hour/retryLimit) {
			t.Errorf("%d claims in an hour, want at most 150 and one in each %v", posts, retryLimit)
		}
		if pod := w.pod("a"); pod.Status.Phase != corev1.PodPending || pod.Status.Reason != podstatus.ReasonAwaitingClaim {
			t.Errorf("the Pod is %s %q, want it to say what it waits for", pod.Status.Phase, pod.Status.Reason)
		}
	})
}

// Hanging claims do not delay the confirmation of others.
func TestQuarantineIsLiftedBesideHangingClaims(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.run("live", "L", "O")
		var lost []string
		for i := range 2 * maxAttempts {
			name, owner := fmt.Sprintf("a%d", i), types.UID(fmt.Sprintf("O%d", i))
			lost = append(lost, w.run(name, "P1"+owner, owner).ID)
			w.remove(name)
		}
		live, _ := w.row("live")
		w.node.Set(func() { w.node.GetErr[live.ID], w.node.Hang = fakes.Failing("get"), map[string]chan struct{}{} })
		shown := w.node.Sandboxes[live.ID]
		w.node.Lose(append(lost, live.ID)...)
		w.restart()
		_ = w.create(w.pod("live"))
		release := make(chan struct{})
		defer close(release)
		for i := range 2 * maxAttempts {
			name, owner := fmt.Sprintf("a%d", i), types.UID(fmt.Sprintf("O%d", i))
			w.node.Set(func() { w.node.Hang[namespace+"/"+name] = release })
			_ = w.create(fakes.NewPod(name, "P2"+owner, owner))
		}
		before := w.node.ClaimCount()
		time.Sleep(goneAfter + 3*verifyEvery)
		if w.node.ClaimCount() == before {
			t.Fatal("no replacement was claimed")
		}
		if c, _ := w.row("live"); c.State != claims.Quarantined {
			t.Fatalf("the claim is %s", c.State)
		}
		w.node.Set(func() { w.node.Sandboxes[live.ID] = shown })
		time.Sleep(verifyEvery)
		synctest.Wait()
		if c, _ := w.row("live"); c.State != claims.Bound {
			t.Errorf("the claim is %s one pass after sandboxd listed it", c.State)
		}
	})
}

// The library retries a create with the object of its cache. The failure that it
// wrote before can be newer.
func TestAFailedPodClaimsNothing(t *testing.T) {
	failed := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	for name, call := range map[string]func(w *world, stale *corev1.Pod) error{
		"a create":        func(w *world, stale *corev1.Pod) error { return w.p.CreatePod(w.t.Context(), stale) },
		"an update":       func(w *world, stale *corev1.Pod) error { return w.p.UpdatePod(w.t.Context(), stale) },
		"nobody's call":   func(*world, *corev1.Pod) error { return nil },
		"with its object": func(w *world, _ *corev1.Pod) error { return w.p.CreatePod(w.t.Context(), w.pod("a")) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.owners.Set(ownership.Alive, "A")
				stale := fakes.NewPod("a", "P1", "A")
				stale.Spec.RestartPolicy = corev1.RestartPolicyNever
				w.node.Set(func() { w.node.ClaimErr = fakes.NoCapacity() })
				if err := w.create(stale); err == nil {
					t.Fatal("the create was to fail")
				}
				w.node.Set(func() { w.node.ClaimErr = nil })
				w.edit("a", failed)
				if err := call(w, stale); err != nil {
					t.Error(err)
				}
				time.Sleep(6 * time.Hour)
				if _, held := w.row("a"); held || w.node.ClaimCount() != 1 || w.phase("a") != corev1.PodFailed {
					t.Errorf("held %t after %d claims, and it is %s", held, w.node.ClaimCount(), w.phase("a"))
				}
			})
		})
	}
}

// A claimed Pod keeps its claim when its annotations are edited.
func TestAnEditedAnnotationEndsNoPod(t *testing.T) {
	for name, edit := range map[string]struct{ annotation, value string }{
		"another runtime":  {podcontract.AnnotationRuntime, "vk-cocoon"},
		"no template":      {podcontract.AnnotationTemplate, ""},
		"a broken lease":   {podcontract.AnnotationTTLSeconds, "soon"},
		"another template": {podcontract.AnnotationTemplate, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				claim := w.run("a", "P1", "A")
				edited := w.edit("a", func(p *corev1.Pod) { p.Annotations[edit.annotation] = edit.value })
				if err := w.p.UpdatePod(t.Context(), edited); err != nil {
					t.Error(err)
				}
				w.restart()
				if err := w.p.CreatePod(t.Context(), edited); err != nil {
					t.Errorf("a running Pod is refused: %v", err)
				}
				time.Sleep(time.Minute)
				if c, _ := w.row("a"); c.ID != claim.ID || c.State != claims.Bound || w.phase("a") != corev1.PodRunning {
					t.Errorf("claim %s %s, the Pod is %s", c.ID, c.State, w.phase("a"))
				}
			})
		})
	}
	t.Run("a Pod without a claim is still refused", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			pod := fakes.NewPod("a", "P1", "A")
			pod.Annotations[podcontract.AnnotationRuntime] = "vk-cocoon"
			if err := w.create(pod); err == nil || w.node.ClaimCount() > 0 {
				t.Errorf("error %v, %d claims", err, w.node.ClaimCount())
			}
		})
	})
}
