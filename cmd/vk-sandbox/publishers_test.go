// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
)

type fakeLists struct{ list, releasing []claims.Claim }

func (f fakeLists) List() []claims.Claim      { return f.list }
func (f fakeLists) Releasing() []claims.Claim { return f.releasing }

func TestHeldClaims(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	row := func(name string, state claims.State) claims.Claim {
		return claims.Claim{Key: "default/" + name, State: state, Row: claims.Row{
			ID: "sb_" + name, Address: "10.0.0.5:7777", ClaimedAt: at, Deadline: at.Add(time.Hour),
		}}
	}
	held := func(name string) []inventory.Held {
		return []inventory.Held{{ID: "sb_" + name, Key: "default/" + name, Address: "10.0.0.5:7777", ClaimedAt: at, Deadline: at.Add(time.Hour)}}
	}
	tests := []struct {
		name  string
		lists fakeLists
		want  []inventory.Held
	}{
		{"bound", fakeLists{list: []claims.Claim{row("a", claims.Bound)}}, held("a")},
		{"preserved", fakeLists{list: []claims.Claim{row("a", claims.Preserved)}}, held("a")},
		{"quarantined", fakeLists{list: []claims.Claim{row("a", claims.Quarantined)}}, held("a")},
		{"tentative", fakeLists{list: []claims.Claim{row("a", claims.Tentative)}}, held("a")},
		{"releasing", fakeLists{releasing: []claims.Claim{row("a", claims.Releasing)}}, held("a")},
		{"confirmed gone", fakeLists{list: []claims.Claim{row("ended", claims.Bound)}}, nil},
		{"releasing, and its Pod has ended", fakeLists{releasing: []claims.Claim{row("ended", claims.Releasing)}}, held("ended")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := heldClaims{table: tt.lists, ended: func(c claims.Claim) bool { return c.ID == "sb_ended" }}
			if diff := cmp.Diff(tt.want, h.Held()); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
		})
	}
}
