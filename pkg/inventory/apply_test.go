// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// The file is the one that is checked against the CRD's schema.
func TestWireShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stamp := time.Date(2026, 7, 27, 2, 16, 0, 0, time.UTC)
		time.Sleep(time.Until(stamp))
		h := newHarness()
		small := sandboxd.Key{Template: template, Net: "none", Size: "small"}
		h.sandboxd.rows = []sandboxd.Sandbox{
			{ID: "sb_a", Key: small, Hibernated: true},
			{ID: "sb_b", Key: small, ClaimRef: "default/demo", ClaimedAt: stamp.Add(-time.Minute), Deadline: stamp.Add(24*time.Hour - time.Minute)},
		}
		h.sandboxd.info.Pools = []sandboxd.Pool{
			{Key: small, Warm: 4, Target: 4, Golden: true},
			{Key: sandboxd.Key{Template: template, Net: "egress", Size: "large"}, Refilling: 1, Target: 1},
		}
		h.claims["sb_b"] = serves("sb_b", "10.0.0.5:7777")
		if _, err := h.publisher(t).Publish(t.Context()); err != nil {
			t.Fatal(err)
		}

		actions := h.Client.Actions()
		if len(actions) != 1 {
			t.Fatalf("%d requests about the inventory, want one", len(actions))
		}
		patch := actions[0].(clienttesting.PatchActionImpl)
		if patch.Name != fakeapi.NodeName || patch.PatchType != types.ApplyPatchType {
			t.Errorf("%s of %s, want an apply named after the node", patch.PatchType, patch.Name)
		}
		if patch.PatchOptions.FieldManager != "vk-sandbox" {
			t.Errorf("field manager %q, want the one the architecture names", patch.PatchOptions.FieldManager)
		}
		fakeapi.CheckWireShape(t, "../apis/sandbox/v1beta1/testdata/nodeinventory.json", patch.Patch)
	})
}

func TestFieldsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		cycles(1)

		h.edit(t, func(o *api.NodeInventory) {
			o.Labels = map[string]string{"team": "a"}
			o.Annotations = map[string]string{"note": "looked at"}
			o.Address = "192.0.2.1:1"
			o.Entries[0].Phase = api.SandboxHibernated
			o.Entries = append(o.Entries, api.NodeEntry{Name: "made-up", ID: "sb_x", Phase: api.SandboxRunning})
			o.Pools = []api.NodePool{{Template: "made-up"}}
		})
		before := len(h.Applies())
		cycles(10)

		got := h.stored(t)
		if got.Address != "10.0.0.5:7777" {
			t.Errorf("address %s was not put back", got.Address)
		}
		want := []api.NodeEntry{{Name: "default/demo", ID: "sb_a", Phase: api.SandboxRunning, ClaimRef: "default/demo"}}
		if diff := cmp.Diff(want, got.Entries); diff != "" {
			t.Errorf("entries after the next cycle (-want +got):\n%s", diff)
		}
		if got.Labels["team"] != "a" || got.Annotations["note"] != "looked at" {
			t.Errorf("labels %v and annotations %v: those of others are gone", got.Labels, got.Annotations)
		}
		if n := len(h.Applies()) - before; n > 12 {
			t.Errorf("%d applies in 10 intervals after an edit", n)
		}
	})
}

// A list that the node has nothing for is still the node's.
func TestMadeUpEntriesOfAnEmptyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.sandboxd.rows = nil
		h.start(t)
		cycles(1)
		h.edit(t, func(o *api.NodeInventory) {
			o.Entries = []api.NodeEntry{{Name: "made-up", ID: "sb_x", Phase: api.SandboxRunning}}
			o.Pools = []api.NodePool{{Template: "made-up"}}
		})
		cycles(1)
		if got := h.stored(t); len(got.Entries) != 0 || len(got.Pools) != 0 {
			t.Errorf("entries %v and pools %v stayed", got.Entries, got.Pools)
		}
	})
}

func TestOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		cycles(1)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.FirstUID, "at first")

		h.change(func() { h.NodeErr = fakeapi.NoNode() })
		cycles(2)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.FirstUID, "while there is no Node")

		h.change(func() { h.NodeUID, h.NodeErr = fakeapi.SecondUID, nil })
		cycles(1)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.SecondUID, "after the Node was re-created")

		// What the garbage collector does to the objects of a Node that is gone.
		h.Delete(t)
		cycles(1)
		fakeapi.CheckOwner(t, h.stored(t), fakeapi.SecondUID, "after the inventory was collected")
	})
}
