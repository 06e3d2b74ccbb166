// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
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
		h.table.claims, h.table.releasing = []claims.Claim{a, b}, []claims.Claim{c}
		h.table.waiting = map[string]string{
			"sb_b": "a new Pod, or the end of its owner: owner is alive",
			"sb_c": "sandboxd to confirm the release: sandboxd unreachable",
		}
		h.table.writes.Last, h.table.verified = stamp.Add(-time.Second), stamp.Add(-30*time.Second)
		h.reach = Reachability{
			Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable",
			Message: "sandboxd info: sandboxd unreachable; check that sandboxd runs and --sandboxd-url",
		}
		if _, err := h.publisher(t).publish(t.Context()); err != nil {
			t.Fatal(err)
		}

		var patches []clienttesting.PatchActionImpl
		for _, action := range h.client.Actions() {
			if p, ok := action.(clienttesting.PatchActionImpl); ok {
				patches = append(patches, p)
			}
		}
		if len(patches) != 2 || patches[0].Subresource != "" || patches[1].Subresource != "status" {
			t.Fatalf("patches %v, want the object's and its status's", patches)
		}
		for _, p := range patches {
			if p.Name != nodeName || p.PatchType != types.ApplyPatchType || p.PatchOptions.FieldManager != "vk-sandbox" {
				t.Errorf("%s of %s as %q, want an apply named after the node", p.PatchType, p.Name, p.PatchOptions.FieldManager)
			}
		}
		if strings.Contains(string(patches[0].Patch), `"status"`) {
			t.Errorf("the object is applied with a status: %s", patches[0].Patch)
		}
		want, err := os.ReadFile("../apis/sandbox/v1alpha1/testdata/nodeclaimstatus.json")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, patches[1].Patch, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("applied (-want +got):\n%s", diff)
		}
		if strings.Contains(got.String(), canary) {
			t.Error("a token was applied")
		}
	})
}

// update changes the stored object as somebody else.
func (h *harness) update(t *testing.T, edit func(*api.NodeClaimStatus)) {
	t.Helper()
	object := h.stored(t)
	edit(object)
	if _, err := h.client.SandboxV1alpha1().NodeClaimStatuses().Update(t.Context(), object, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
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
				before := len(h.applies())
				h.update(t, func(o *api.NodeClaimStatus) {
					o.Annotations = map[string]string{"note": "looked at"}
					tt.edit(o)
				})
				pass(2 * interval)
				got := h.stored(t)
				if n := len(h.applies()) - before; (n > 0) != tt.ours || n > 2 {
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
				settled := len(h.applies())
				pass(time.Hour)
				if n := len(h.applies()) - settled; n > 0 {
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
		pass(2 * interval)
		if got := h.stored(t); len(got.Status.Claims) > 0 {
			t.Errorf("claims %v stayed", got.Status.Claims)
		}
	})
}

func owners(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: nodeName, UID: uid}}
}

func TestOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		if diff := cmp.Diff(owners(firstUID), h.stored(t).OwnerReferences); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}

		// What the garbage collector does to the objects of a Node that is gone.
		h.change(func() { h.nodeErr = errNoNode })
		if err := h.client.SandboxV1alpha1().NodeClaimStatuses().Delete(t.Context(), nodeName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(10 * interval)
		h.change(func() { h.nodeUID, h.nodeErr = secondUID, nil })
		pass(2 * maxRetry)
		if diff := cmp.Diff(owners(secondUID), h.stored(t).OwnerReferences); diff != "" {
			t.Errorf("owners after the Node was re-created (-want +got):\n%s", diff)
		}

		// Where nothing was collected, the next publication takes the object over.
		h.move(func() { h.nodeUID, h.table.claims = firstUID, nil })
		pass(2 * interval)
		got := h.stored(t)
		if diff := cmp.Diff(owners(firstUID), got.OwnerReferences); diff != "" {
			t.Errorf("owners after another re-creation (-want +got):\n%s", diff)
		}
		if len(got.Status.Conditions) != 4 {
			t.Errorf("conditions %v", got.Status.Conditions)
		}
	})
}

func TestADeletedObjectIsBack(t *testing.T) {
	deleted := func(h *harness) {
		if err := h.client.Tracker().Delete(api.SchemeGroupVersion.WithResource("nodeclaimstatuses"), "", nodeName); err != nil {
			panic(err)
		}
	}
	tests := []struct {
		name   string
		lose   func(*harness)
		within time.Duration
	}{
		{"while it is watched", deleted, 2 * interval},
		{"just before a change", func(h *harness) { deleted(h); h.move(func() { h.table.claims = nil }) }, 2 * interval},
		{"while no watch can be had", func(h *harness) {
			h.change(func() { h.watchErr = context.DeadlineExceeded })
			h.endWatches()
			pass(time.Second)
			deleted(h)
		}, 2 * maxRetry},
		{"between two watches", func(h *harness) {
			h.endWatches()
			pass(time.Second)
			deleted(h)
		}, 4 * interval},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				tt.lose(h)
				pass(tt.within)
				if diff := cmp.Diff(owners(firstUID), h.stored(t).OwnerReferences); diff != "" {
					t.Errorf("owners (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// endWatches ends the watches as an API server does now and then.
func (h *harness) endWatches() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watches {
		w.Stop()
	}
	h.watches = nil
}

func TestTransitionTimesSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		_, stop := h.run(t)
		pass(3 * interval)
		first := h.stored(t)
		stop()
		pass(time.Hour)
		h.change(func() {
			h.reach = Reachability{Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable", Message: "no"}
		})
		h.start(t)
		got := h.stored(t)
		if then, now := condition(t, first, "TableDurable"), condition(t, got, "TableDurable"); !then.LastTransitionTime.Equal(&now.LastTransitionTime) {
			t.Errorf("TableDurable's transition moved from %v to %v", then.LastTransitionTime, now.LastTransitionTime)
		}
		if then, now := condition(t, first, "Ready"), condition(t, got, "Ready"); now.Status != metav1.ConditionFalse || !then.LastTransitionTime.Before(&now.LastTransitionTime) {
			t.Errorf("Ready is %v since %v, was %v since %v", now.Status, now.LastTransitionTime, then.Status, then.LastTransitionTime)
		}
	})
}

// Not at any verbosity, and not in what is applied.
func TestB20NoTokenLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(10)))
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logger), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(30 * time.Second)
			h.move(func() { h.table.claims[0].State, h.applyErr = claims.Preserved, context.DeadlineExceeded })
		}()
		if err := h.publisher(t).Run(ctx); err != nil {
			t.Fatal(err)
		}
		logs := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		if logs == "" || strings.Contains(logs, canary) {
			t.Errorf("logs:\n%s", logs)
		}
		patches := 0
		for _, action := range h.client.Actions() {
			if p, ok := action.(clienttesting.PatchActionImpl); ok {
				patches++
				if bytes.Contains(p.Patch, []byte(canary)) {
					t.Errorf("applied %s", p.Patch)
				}
			}
		}
		if patches < 3 {
			t.Errorf("%d applies", patches)
		}
	})
}

// A publication does not need the watch to find that the object is gone.
func TestAPublicationFindsTheObjectGone(t *testing.T) {
	h := newHarness()
	p := h.publisher(t)
	if _, err := p.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.client.Tracker().Delete(api.SchemeGroupVersion.WithResource("nodeclaimstatuses"), "", nodeName); err != nil {
		t.Fatal(err)
	}
	h.change(func() { h.table.claims = nil })
	if _, err := p.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.stored(t); len(got.OwnerReferences) != 1 || len(got.Status.Claims) != 0 || got.Status.Counts == nil {
		t.Errorf("stored is %+v", got)
	}
}
