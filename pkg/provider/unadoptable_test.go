// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

const (
	unadoptableGrace = 10 * time.Minute
	randomPod        = "web-x2b4k"
)

func withGrace(c *Config) { c.UnadoptableGrace = unadoptableGrace }

// replica is the Pod P1 of the ReplicaSet R.
func replica() *corev1.Pod {
	pod := fakes.NewPod(randomPod, "P1", "R")
	pod.GenerateName = "web-"
	pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = "apps/v1", "ReplicaSet"
	return pod
}

// serve adds a Pod of an owner that lives, and serves it.
func (w *world) serve(pod *corev1.Pod) claims.Claim {
	w.t.Helper()
	w.owners.Set(ownership.Alive, pod.UID, pod.OwnerReferences[0].UID)
	if err := w.create(pod); err != nil {
		w.t.Fatal(err)
	}
	c, _ := w.row(pod.Name)
	return c
}

func TestAnUnadoptableClaim(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.serve(replica())
		if w.p.UnadoptableClaims() != 0 {
			t.Error("unadoptable while its Pod lives")
		}
		time.Sleep(time.Minute)
		w.remove(randomPod)
		gone, _ := w.row(randomPod)
		const why = ", because no other Pod will have its Pod's random name"
		if got := w.p.WaitingFor(gone); got != "its release at 2000-01-01T00:11:00Z"+why || w.p.UnadoptableClaims() != 1 {
			t.Errorf("waits for %q, %d unadoptable", got, w.p.UnadoptableClaims())
		}
		time.Sleep(unadoptableGrace - time.Second)
		if got := w.p.WaitingFor(gone); got != "its release at 2000-01-01T00:11:00Z"+why+": the owner is alive" || len(w.node.Destroyed()) > 0 {
			t.Errorf("waits for %q, destroyed %v", got, w.node.Destroyed())
		}
		time.Sleep(recheckEvery + time.Second)
		synctest.Wait()
		if got := w.node.Destroyed(); !slices.Equal(got, []string{c.ID}) || w.p.UnadoptableClaims() != 0 {
			t.Errorf("destroyed %v, %d unadoptable", got, w.p.UnadoptableClaims())
		}
		want := []string{events.ReasonClaimed, events.ReasonPreserved, events.ReasonUnadoptable, events.ReasonReleased}
		for _, object := range []string{"Pod/" + randomPod, "ReplicaSet/of-R"} {
			if got := w.events.Of(object); !slices.Equal(got, want) {
				t.Errorf("events of %s: %v", object, got)
			}
		}
	}, withGrace)
}

func TestUnadoptableClaimsThatAreKept(t *testing.T) {
	const owner, never = "a new Pod, or the end of its owner", "the end of its owner or its lease, because no other Pod will have its Pod's random name"
	for name, tc := range map[string]struct {
		pod   *corev1.Pod
		grace time.Duration
		leave func(w *world, pod *corev1.Pod)
		waits string
	}{
		"a Sandbox's Pod":          {fakes.NewPod("a", "P1", "S"), unadoptableGrace, func(w *world, pod *corev1.Pod) { w.remove(pod.Name) }, owner},
		"no grace is set":          {replica(), 0, func(w *world, pod *corev1.Pod) { w.remove(pod.Name) }, never},
		"a list lacked the Pod":    {replica(), unadoptableGrace, func(w *world, pod *corev1.Pod) { w.leave(pod, false) }, never},
		"the Pod left with events": {replica(), 20 * time.Hour, func(w *world, pod *corev1.Pod) { w.leave(pod, true) }, "its release at 2000-01-01T20:00:00Z, because no other Pod will have its Pod's random name"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.serve(tc.pod)
				tc.leave(w, w.pod(tc.pod.Name))
				time.Sleep(19 * time.Hour)
				c, held := w.row(tc.pod.Name)
				if got := w.p.WaitingFor(c); !held || got != tc.waits+": the owner is alive" {
					t.Errorf("held %t, waits for %q", held, got)
				}
			}, func(c *Config) { c.UnadoptableGrace = tc.grace })
		})
	}
}

// A daemon learns of the names of Pods that an older build has claimed for.
func TestRowsOfAnOlderBuildGetTheNamesKind(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.serve(replica())
		h := claims.Holder{PodUID: c.PodUID, Controller: c.Controller}
		if err := w.p.table.Follow(c.Key, c.ID, h); err != nil {
			t.Fatal(err)
		}
		time.Sleep(reconcileEvery)
		synctest.Wait()
		if c, _ := w.row(randomPod); !c.RandomName {
			t.Error("the name is not known to be random")
		}
	}, withGrace)
}
