// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// A sandboxd that lists too little for a while, as it does after its restart,
// takes no entry of this node's claims away.
func TestHeldClaimsStayListed(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	key := sandboxd.Key{Template: template, Net: "none", Size: "small"}
	full := []sandboxd.Sandbox{
		{ID: "sb_a", ClaimRef: "default/a", Key: key, ClaimedAt: at, Deadline: at.Add(time.Hour)},
		{ID: "sb_b", ClaimRef: "default/b", Key: key, ClaimedAt: at, Deadline: at.Add(time.Hour), Hibernated: true},
		{ID: "sb_other", ClaimRef: "team-a/other", Key: key},
	}
	held := func(id, key string) Held {
		return Held{ID: id, Key: key, Address: "10.0.0.5:7777", ClaimedAt: at, Deadline: at.Add(time.Hour)}
	}
	entry := func(name string, phase api.SandboxPhase) api.NodeEntry {
		return api.NodeEntry{
			Name: "default/" + name, ID: "sb_" + name, Phase: phase, ClaimRef: "default/" + name, Addr: "10.0.0.5:7777", Template: template,
			ClaimedAt: new(metav1.NewTime(at)), Deadline: new(metav1.NewTime(at.Add(time.Hour))),
		}
	}
	other := api.NodeEntry{Name: "team-a/other", ID: "sb_other", Phase: api.SandboxRunning, ClaimRef: "team-a/other", Template: template}
	a, b := entry("a", api.SandboxRunning), entry("b", api.SandboxHibernated)
	tests := []struct {
		name  string
		index []sandboxd.Sandbox
		table func(fakeClaims)
		want  []api.NodeEntry
	}{
		{"the whole list", full, nil, []api.NodeEntry{a, b, other}},
		{"an empty list", nil, nil, []api.NodeEntry{a, b}},
		{"a partial list", full[1:], nil, []api.NodeEntry{a, b, other}},
		{"an empty list, and a claim that is confirmed gone", nil, func(c fakeClaims) { delete(c, "sb_a") }, []api.NodeEntry{b}},
		{"a claim that is confirmed gone in the table and still listed", full, func(c fakeClaims) { delete(c, "sb_b") }, []api.NodeEntry{
			a, func() api.NodeEntry { e := b; e.Addr = ""; return e }(), other,
		}},
		{"an empty list, and a lease that has moved", nil, func(c fakeClaims) {
			h := c["sb_a"]
			h.Deadline = at.Add(2 * time.Hour)
			c["sb_a"] = h
		}, []api.NodeEntry{func() api.NodeEntry { e := a; e.Deadline = new(metav1.NewTime(at.Add(2 * time.Hour))); return e }(), b}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(at.Add(time.Minute)))
				h := newHarness()
				h.sandboxd.rows = full
				h.claims["sb_a"], h.claims["sb_b"] = held("sb_a", "default/a"), held("sb_b", "default/b")
				h.start(t)
				cycles(1)
				h.change(func() {
					h.sandboxd.rows = tt.index
					if tt.table != nil {
						tt.table(h.claims)
					}
				})
				for range 3 {
					cycles(1)
					got := h.stored(t)
					if diff := cmp.Diff(tt.want, got.Entries); diff != "" {
						t.Errorf("entries (-want +got):\n%s", diff)
					}
					if *got.TotalEntries != int64(len(tt.want)) {
						t.Errorf("totalEntries %d of %d", *got.TotalEntries, len(tt.want))
					}
				}
			})
		})
	}
}

// A daemon that starts beside a sandboxd with an empty index publishes what the
// table says.
func TestAHeldClaimThatNoListHad(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	tests := []struct {
		name string
		held Held
		want Entry
	}{
		{
			"a row", Held{ID: "sb_a", Key: "default/a", Address: "10.0.0.5:7777", ClaimedAt: at, Deadline: at.Add(time.Hour)},
			Entry{
				Name: "default/a", ID: "sb_a", Phase: api.SandboxRunning, ClaimRef: "default/a", Addr: "10.0.0.5:7777",
				ClaimedAt: at, Deadline: at.Add(time.Hour),
			},
		},
		{"a row that knows no more than its id", Held{ID: "sb_a"}, Entry{Name: "sb_a", ID: "sb_a", Phase: api.SandboxRunning}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness()
			h.sandboxd.rows = nil
			h.claims["sb_a"] = tt.held
			if _, err := h.publisher(t).Publish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Entry{tt.want}, Read(h.stored(t)).Entries); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// What the index said about a claim is forgotten with the claim, and a failed
// list changes nothing about it.
func TestWhatIsRemembered(t *testing.T) {
	sandboxes := &fakeSandboxd{rows: []sandboxd.Sandbox{{ID: "sb_a", Hibernated: true}, {ID: "sb_other", Hibernated: true}}}
	table := fakeClaims{"sb_a": {ID: "sb_a", Key: "default/a"}}
	c := &Collector{Sandboxd: sandboxes, Claims: table}
	collect := func() []string {
		t.Helper()
		s, err := c.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range s.Entries {
			out = append(out, *e.ID+" "+string(*e.Phase))
		}
		return out
	}
	collect()
	sandboxes.listErr = errors.New("connection refused")
	if _, err := c.Collect(t.Context()); err == nil {
		t.Error("a failed list is taken for an answer")
	}
	sandboxes.rows, sandboxes.listErr = nil, nil
	if diff := cmp.Diff([]string{"sb_a Hibernated"}, collect()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	delete(table, "sb_a")
	collect()
	if len(c.last) > 0 {
		t.Errorf("still remembered: %v", c.last)
	}
	table["sb_a"] = Held{ID: "sb_a"}
	if diff := cmp.Diff([]string{"sb_a Running"}, collect()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
