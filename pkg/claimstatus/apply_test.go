// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// The file is the one that is checked against the CRD's schema.
func TestWireShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stamp := time.Date(2026, 7, 27, 2, 16, 0, 0, time.UTC)
		time.Sleep(time.Until(stamp))
		h := newHarness()
		const uid = "6f1c1a52-0000-4000-8000-00000000000"
		row := func(name string, state claims.State) claims.Claim {
			c := claim("notebook-"+name, state)
			c.ID, c.PodUID = "sb_"+name, types.UID(uid+name)
			return c
		}
		a, b, c := row("a", claims.Bound), row("b", claims.Preserved), row("c", claims.Releasing)
		b.Owner = &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "notebook-b", UID: "6f1c1a52-0000-4000-8000-0000000000b0"}
		c.Deadline = time.Time{}
		d := row("d", claims.Preserved)
		d.Key, d.RandomName = "team-red/web-5d4f-x2b4k", true
		d.Owner = &claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4f", UID: "6f1c1a52-0000-4000-8000-0000000000d0"}
		h.table.claims, h.table.releasing = []claims.Claim{a, b, d}, []claims.Claim{c}
		h.table.ending = map[string]bool{"sb_a": true}
		h.table.waiting = map[string]string{
			"sb_b": "a new Pod, or the end of its owner: owner is alive",
			"sb_c": "sandboxd to confirm the release: sandboxd unreachable",
			"sb_d": "its release at 2026-07-27T02:26:00Z, because no other Pod will have its Pod's random name: owner is alive",
		}
		h.table.writes.Last, h.table.verified = stamp.Add(-time.Second), stamp.Add(-30*time.Second)
		h.table.reachable = metav1.Condition{
			Type: api.ConditionSandboxdReachable, Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable",
			Message: "sandboxd info: sandboxd unreachable; check that sandboxd runs and that its URL is right",
		}
		if _, err := h.publisher(t).Publish(t.Context()); err != nil {
			t.Fatal(err)
		}

		patches := h.Patches()
		if len(patches) != 2 || patches[0].Subresource != "" || patches[1].Subresource != "status" {
			t.Fatalf("patches %v, want the object's and its status's", patches)
		}
		for _, p := range patches {
			if p.Name != fakeapi.NodeName || p.PatchType != types.ApplyPatchType || p.PatchOptions.FieldManager != "vk-sandbox" {
				t.Errorf("%s of %s as %q, want an apply named after the node", p.PatchType, p.Name, p.PatchOptions.FieldManager)
			}
		}
		if strings.Contains(string(patches[0].Patch), `"status"`) {
			t.Errorf("the object is applied with a status: %s", patches[0].Patch)
		}
		fakeapi.CheckWireShape(t, "../apis/sandbox/v1alpha1/testdata/nodeclaimstatus.json", patches[1].Patch)
		if bytes.Contains(patches[1].Patch, []byte(secret)) {
			t.Error("a token was applied")
		}
	})
}

// update changes the stored object as somebody else.
func (h *harness) update(t *testing.T, edit func(*api.NodeClaimStatus)) {
	t.Helper()
	object := h.stored(t)
	edit(object)
	if _, err := h.Client.SandboxV1alpha1().NodeClaimStatuses().Update(t.Context(), object, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
}

func TestFieldsOfOthers(t *testing.T) {
	tests := []struct {
		name string
		edit func(*api.NodeClaimStatus)
		ours bool
	}{
		{"a label", func(o *api.NodeClaimStatus) { o.Labels = map[string]string{"team": "a"} }, false},
		{"a claim", func(o *api.NodeClaimStatus) { o.Status.Claims[0].State = api.ClaimReleasing }, true},
		{"a made-up claim", func(o *api.NodeClaimStatus) {
			o.Status.Claims = append(o.Status.Claims, api.NodeClaim{Pod: "made/up", ID: "x", State: api.ClaimBound})
		}, true},
		{"no claims", func(o *api.NodeClaimStatus) { o.Status.Claims = nil }, true},
		{"a count", func(o *api.NodeClaimStatus) { o.Status.Counts.Bound = 7 }, true},
		{"a condition", func(o *api.NodeClaimStatus) { o.Status.Conditions[0].Status = metav1.ConditionFalse }, true},
		{"the owner", func(o *api.NodeClaimStatus) { o.OwnerReferences = nil }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				good := h.stored(t)
				before := len(h.Applies())
				h.update(t, func(o *api.NodeClaimStatus) {
					o.Annotations = map[string]string{"note": "looked at"}
					tt.edit(o)
				})
				fakeapi.Pass(2 * interval)
				got := h.stored(t)
				if n := len(h.Applies()) - before; (n > 0) != tt.ours || n > 2 {
					t.Errorf("%d applies after the edit", n)
				}
				got.Status.LastPublishedTime = good.Status.LastPublishedTime
				if diff := cmp.Diff(good.Status, got.Status); diff != "" {
					t.Errorf("status (-before the edit +after):\n%s", diff)
				}
				if diff := cmp.Diff(good.OwnerReferences, got.OwnerReferences); diff != "" {
					t.Errorf("owner (-before the edit +after):\n%s", diff)
				}
				if got.Annotations["note"] != "looked at" {
					t.Error("the annotation of others is gone")
				}
				applied := len(h.Applies())
				fakeapi.Pass(time.Hour)
				if n := len(h.Applies()) - applied; n > 0 {
					t.Errorf("%d applies in the hour after", n)
				}
			})
		})
	}
}

// A list that the node has nothing for is still the node's.
func TestMadeUpClaimsOfAnEmptyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.table.claims = nil
		h.start(t)
		h.update(t, func(o *api.NodeClaimStatus) {
			o.Status.Claims = []api.NodeClaim{{Pod: "made/up", ID: "x", State: api.ClaimBound}}
		})
		fakeapi.Pass(2 * interval)
		if got := h.stored(t); len(got.Status.Claims) > 0 {
			t.Errorf("claims %v stayed", got.Status.Claims)
		}
	})
}

func TestOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.FirstUID, "at first")

		// What the garbage collector does to the objects of a Node that is gone.
		h.change(func() { h.NodeErr = fakeapi.NoNode() })
		h.Delete(t)
		fakeapi.Pass(10 * interval)
		h.change(func() { h.NodeUID, h.NodeErr = fakeapi.SecondUID, nil })
		fakeapi.Pass(2 * maxRetry)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.SecondUID, "after the Node was re-created")

		// Where nothing was collected, the next publication takes the object over.
		h.move(func() { h.NodeUID, h.table.claims = fakeapi.FirstUID, nil })
		fakeapi.Pass(2 * interval)
		got := h.stored(t)
		fakeapi.CheckOwner(t, got, fakeapi.FirstUID, "after another re-creation")
		if len(got.Status.Conditions) != 4 {
			t.Errorf("conditions %v", got.Status.Conditions)
		}
	})
}

func TestADeletedObjectIsBack(t *testing.T) {
	tests := []struct {
		name   string
		lose   func(*testing.T, *harness)
		within time.Duration
	}{
		{"while it is watched", func(t *testing.T, h *harness) { h.Delete(t) }, 2 * interval},
		{"just before a change", func(t *testing.T, h *harness) { h.Delete(t); h.move(func() { h.table.claims = nil }) }, 2 * interval},
		{"while no watch can be had", func(t *testing.T, h *harness) {
			h.change(func() { h.WatchErr = context.DeadlineExceeded })
			h.EndWatches()
			fakeapi.Pass(time.Second)
			h.Delete(t)
		}, 2 * maxRetry},
		{"between two watches", func(t *testing.T, h *harness) {
			h.EndWatches()
			fakeapi.Pass(time.Second)
			h.Delete(t)
		}, 4 * interval},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				tt.lose(t, h)
				fakeapi.Pass(tt.within)
				fakeapi.CheckOwner(t, h.stored(t), fakeapi.FirstUID, "once it is back")
			})
		})
	}
}

func TestTransitionTimesSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		_, stop := h.run(t)
		fakeapi.Pass(3 * interval)
		first := h.stored(t)
		stop()
		fakeapi.Pass(time.Hour)
		h.change(func() {
			h.table.reachable = metav1.Condition{Type: api.ConditionSandboxdReachable, Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable", Message: "no"}
		})
		h.start(t)
		got := h.stored(t)
		if then, now := condition(t, first, "ClaimsTableDurable"), condition(t, got, "ClaimsTableDurable"); !then.LastTransitionTime.Equal(&now.LastTransitionTime) {
			t.Errorf("ClaimsTableDurable's transition moved from %v to %v", then.LastTransitionTime, now.LastTransitionTime)
		}
		if then, now := condition(t, first, "Ready"), condition(t, got, "Ready"); now.Status != metav1.ConditionFalse || !then.LastTransitionTime.Before(&now.LastTransitionTime) {
			t.Errorf("Ready is %v since %v, was %v since %v", now.Status, now.LastTransitionTime, then.Status, then.LastTransitionTime)
		}
	})
}

// Not at any verbosity, and not in what is applied.
func TestNoTokenIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(10)))
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logger), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(30 * time.Second)
			h.move(func() { h.table.claims[0].State, h.ApplyErr = claims.Preserved, context.DeadlineExceeded })
		}()
		if err := h.publisher(t).Run(ctx); err != nil {
			t.Fatal(err)
		}
		logs := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		if logs == "" || strings.Contains(logs, secret) {
			t.Errorf("logs:\n%s", logs)
		}
		for _, p := range h.Patches() {
			if bytes.Contains(p.Patch, []byte(secret)) {
				t.Errorf("applied %s", p.Patch)
			}
		}
		if patches := len(h.Patches()); patches < 3 {
			t.Errorf("%d applies", patches)
		}
	})
}

// A publication does not need the watch to find that the object is gone.
func TestAPublicationFindsTheObjectGone(t *testing.T) {
	h := newHarness()
	p := h.publisher(t)
	if _, err := p.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Delete(t)
	h.change(func() { h.table.claims = nil })
	if _, err := p.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.stored(t); len(got.OwnerReferences) != 1 || len(got.Status.Claims) != 0 || got.Status.Counts == nil {
		t.Errorf("stored is %+v", got)
	}
}
