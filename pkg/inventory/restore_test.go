// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// An API server that was restored from a backup has another object than the one
// published last, with an older version, or none.
func TestAfterARestoreTheObjectIsRightWithinAnInterval(t *testing.T) {
	tests := []struct {
		name    string
		restore func(*api.NodeInventory) runtime.Object
		owner   types.UID // of the Node after the restore
	}{
		{"an older state", func(o *api.NodeInventory) runtime.Object { return o }, fakeapi.FirstUID},
		{"no object", func(*api.NodeInventory) runtime.Object { return nil }, fakeapi.FirstUID},
		{"an object with another UID", func(o *api.NodeInventory) runtime.Object { o.UID = "another"; return o }, fakeapi.FirstUID},
		{"an object of an older Node, which is registered again", func(o *api.NodeInventory) runtime.Object { return o }, fakeapi.SecondUID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				cycles(1)
				backup := h.stored(t)
				h.change(func() { h.sandboxd.rows = []sandboxd.Sandbox{{ID: "sb_b", ClaimRef: "default/next"}} })
				cycles(1)

				h.change(func() { h.NodeUID = tt.owner })
				h.Restore(t, tt.restore(backup))
				cycles(1)
				got := h.stored(t)
				if diff := cmp.Diff([]string{"default/next"}, names(got)); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
				fakeapi.CheckOwner(t, got, tt.owner, "after the restore")
			})
		})
	}
}

// One publication turns an object of the first builds into one of this shape.
func TestAnObjectOfTheFirstBuildsIsUpgraded(t *testing.T) {
	h := newHarness()
	old, err := os.ReadFile(testdata + "nodeinventory_firstbuilds.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.config.Client.Patch(t.Context(), fakeapi.NodeName, types.ApplyPatchType, old, publish.PatchOptions()); err != nil {
		t.Fatal(err)
	}
	if before := h.stored(t); before.Pools[0].Key == nil || before.Entries[0].Address == "" {
		t.Fatalf("the stored object is not of the first builds: %+v", before)
	}
	key := sandboxd.Key{Template: template, Net: "none", Size: "small"}
	h.sandboxd.rows = []sandboxd.Sandbox{{ID: "sb_b", ClaimRef: "default/demo", Key: key}}
	h.sandboxd.info.Pools = []sandboxd.Pool{{Key: key, Warm: 4, Target: 4}}
	h.claims["sb_b"] = serves("sb_b", "10.0.0.5:7777")
	if _, err := h.publisher(t).Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := h.stored(t)
	wantPools := []api.NodePool{{Template: template, Net: "none", Size: "small", Warm: 4, Target: 4}}
	if diff := cmp.Diff(wantPools, got.Pools); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	wantEntries := []api.NodeEntry{{
		Name: "default/demo", ID: "sb_b", Phase: api.SandboxRunning, ClaimRef: "default/demo", Addr: "10.0.0.5:7777", Template: template,
	}}
	if diff := cmp.Diff(wantEntries, got.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if got.Node != fakeapi.NodeName {
		t.Errorf("node %q", got.Node)
	}
}
