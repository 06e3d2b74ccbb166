// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/json"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

const testdata = "../apis/sandbox/v1beta1/testdata/"

// Objects of either shape say the same.
func TestRead(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	want := Inventory{
		Node: fakeapi.NodeName, Address: "10.0.0.5:7777", PublishedAt: at.Add(time.Minute),
		Entries: []Entry{
			{
				Name: "default/demo", ID: "sb_b", Phase: api.SandboxRunning, ClaimRef: "default/demo", Addr: "10.0.0.5:7777",
				Template: template, ClaimedAt: at, Deadline: at.Add(24 * time.Hour),
			},
			{Name: "sb_a", ID: "sb_a", Phase: api.SandboxHibernated, Template: template},
		},
		Pools: []Pool{
			{Key: sandboxd.Key{Template: template, Net: "egress", Size: "large"}, Target: 1},
			{Key: sandboxd.Key{Template: template, Net: "none", Size: "small"}, Warm: 4, Target: 4},
		},
	}
	for _, file := range []string{"nodeinventory.json", "nodeinventory_firstbuilds.json"} {
		t.Run(file, func(t *testing.T) {
			raw, err := os.ReadFile(testdata + file)
			if err != nil {
				t.Fatal(err)
			}
			var object api.NodeInventory
			if err := json.Unmarshal(raw, &object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, Read(&object)); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			object.TotalEntries = new(int64(3))
			if !Read(&object).Truncated {
				t.Error("two entries of three are taken for all")
			}
		})
	}
}

// What is written is read as it was meant.
func TestReadWhatIsPublished(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	key := sandboxd.Key{Template: template, Net: "none", Size: "small"}
	tests := []struct {
		name string
		row  sandboxd.Sandbox
		pool sandboxd.Pool
		want Entry
	}{
		{
			"every field",
			sandboxd.Sandbox{ID: "sb_a", ClaimRef: "default/demo", Key: key, ClaimedAt: at, Deadline: at.Add(time.Hour), Hibernated: true},
			sandboxd.Pool{Key: key, Warm: 2, Target: 4},
			Entry{
				Name: "default/demo", ID: "sb_a", Phase: api.SandboxHibernated, ClaimRef: "default/demo", Addr: "10.0.0.5:7777",
				Template: template, ClaimedAt: at, Deadline: at.Add(time.Hour),
			},
		},
		{
			"as few as there can be",
			sandboxd.Sandbox{ID: "sb_a"},
			sandboxd.Pool{Key: sandboxd.Key{Template: "t"}},
			Entry{Name: "sb_a", ID: "sb_a", Phase: api.SandboxRunning, Addr: "10.0.0.5:7777"},
		},
		{
			"a claim_ref that is the id",
			sandboxd.Sandbox{ID: "sb_a", ClaimRef: "sb_a"},
			sandboxd.Pool{},
			Entry{Name: "sb_a", ID: "sb_a", Phase: api.SandboxRunning, ClaimRef: "sb_a", Addr: "10.0.0.5:7777"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.sandboxd.rows, h.sandboxd.info.Pools = []sandboxd.Sandbox{tt.row}, []sandboxd.Pool{tt.pool}
				h.claims["sb_a"] = serves("sb_a", "10.0.0.5:7777")
				if _, err := h.publisher(t).Publish(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := Inventory{
					Node: fakeapi.NodeName, Address: "10.0.0.5:7777", PublishedAt: time.Now(),
					Entries: []Entry{tt.want},
					Pools:   []Pool{{Key: tt.pool.Key, Warm: int64(tt.pool.Warm), Target: int64(tt.pool.Target)}},
				}
				if diff := cmp.Diff(want, Read(h.stored(t))); diff != "" {
					t.Errorf("read (-want +got):\n%s", diff)
				}
			})
		})
	}
}
