// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// ownClaim is the table of a node whose one claim is sb_own, where the index has
// it.
func ownClaim(listed string) fakeClaims {
	if listed != "sb_own" {
		return fakeClaims{}
	}
	return fakeClaims{"sb_own": serves("sb_own", "10.0.0.5:7777")}
}

func TestEntry(t *testing.T) {
	key := sandboxd.Key{Template: template, Net: "none", Size: "small"}
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	longest := strings.Repeat("n", 63) + "/" + strings.Repeat("p", 253)
	tests := []struct {
		name string
		row  sandboxd.Sandbox
		want string
	}{
		{
			"our own claim",
			sandboxd.Sandbox{ID: "sb_own", ClaimRef: "default/demo", Key: key, ClaimedAt: at, Deadline: at.Add(time.Hour)},
			`{"name":"default/demo","id":"sb_own","phase":"Running","claimRef":"default/demo","addr":"10.0.0.5:7777","template":"` + template +
				`","claimedAt":"2026-07-27T02:15:00Z","deadline":"2026-07-27T03:15:00Z"}`,
		},
		{
			"a claim made by someone else has no address",
			sandboxd.Sandbox{ID: "sb_other", ClaimRef: "team-a/other", Key: key},
			`{"name":"team-a/other","id":"sb_other","phase":"Running","claimRef":"team-a/other","template":"` + template + `"}`,
		},
		{
			"no claim_ref",
			sandboxd.Sandbox{ID: "sb_branch"},
			`{"name":"sb_branch","id":"sb_branch","phase":"Running"}`,
		},
		{
			"a claim_ref that is no Pod key is published as it is",
			sandboxd.Sandbox{ID: "sb_odd", ClaimRef: "nightly build 7"},
			`{"name":"nightly build 7","id":"sb_odd","phase":"Running","claimRef":"nightly build 7"}`,
		},
		{
			"the longest claim_ref of a Kubernetes object",
			sandboxd.Sandbox{ID: "sb_long", ClaimRef: longest},
			`{"name":"` + longest + `","id":"sb_long","phase":"Running","claimRef":"` + longest + `"}`,
		},
		{
			"a longer claim_ref",
			sandboxd.Sandbox{ID: "sb_longer", ClaimRef: longest + "p"},
			`{"name":"sb_longer","id":"sb_longer","phase":"Running"}`,
		},
		{
			"hibernated",
			sandboxd.Sandbox{ID: "sb_h", Hibernated: true},
			`{"name":"sb_h","id":"sb_h","phase":"Hibernated"}`,
		},
		{
			"archived",
			sandboxd.Sandbox{ID: "sb_z", Archived: true},
			`{"name":"sb_z","id":"sb_z","phase":"Hibernated"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Collector{
				Sandboxd: &fakeSandboxd{rows: []sandboxd.Sandbox{tt.row}},
				Claims:   ownClaim(tt.row.ID),
			}
			s, err := c.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Entries) != 1 {
				t.Fatalf("%d entries for one row of the index", len(s.Entries))
			}
			got, err := json.Marshal(s.Entries[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrderDoesNotDependOnTheAnswer(t *testing.T) {
	rows := []sandboxd.Sandbox{
		{ID: "sb_1", ClaimRef: "default/b"},
		{ID: "sb_2"},
		{ID: "sb_4", ClaimRef: "default/a"},
		{ID: "sb_3", ClaimRef: "default/a"},
	}
	info := sandboxd.Info{Pools: []sandboxd.Pool{
		{Key: sandboxd.Key{Template: "t", Net: "none", Size: "small"}, Warm: 1},
		{Key: sandboxd.Key{Template: "t", Net: "none", Size: "large"}, Warm: 2},
		{Key: sandboxd.Key{Template: "t", Net: "egress", Size: "small"}, Warm: 4},
		{Key: sandboxd.Key{Template: "s", Net: "none", Size: "small"}, Warm: 8},
	}}
	for range 2 {
		s, err := (&Collector{Sandboxd: &fakeSandboxd{rows: rows, info: info}, Claims: fakeClaims{}}).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range s.Entries {
			ids = append(ids, *e.ID)
		}
		if diff := cmp.Diff([]string{"sb_3", "sb_4", "sb_1", "sb_2"}, ids); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		var warm []int64
		for _, p := range s.Pools {
			warm = append(warm, *p.Warm)
		}
		if diff := cmp.Diff([]int64{8, 4, 2, 1}, warm); diff != "" {
			t.Errorf("pools by their warm count (-want +got):\n%s", diff)
		}
		if s.Warm != 15 {
			t.Errorf("%d warm in all, want 15", s.Warm)
		}
		slices.Reverse(rows)
		slices.Reverse(info.Pools)
	}
}

func TestAnUnansweredQuestionIsAnError(t *testing.T) {
	down := errors.New("connection refused")
	tests := []struct {
		name     string
		sandboxd *fakeSandboxd
		says     string
	}{
		{"list", &fakeSandboxd{listErr: down}, "list the node's sandboxes: connection refused"},
		{"info", &fakeSandboxd{infoErr: down}, "read the node's pools: connection refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := (&Collector{Sandboxd: tt.sandboxd, Claims: fakeClaims{}}).Collect(t.Context())
			if !errors.Is(err, down) || err.Error() != tt.says {
				t.Errorf("error %v, want %s", err, tt.says)
			}
		})
	}
}
