// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/crdschema"
)

const crdFile = "../../charts/vk-sandbox/files/crds/sandbox.cocoonstack.io_nodeclaimstatuses.yaml"

func TestRedact(t *testing.T) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 123, time.FixedZone("", 3600))
	sandbox := &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "demo", UID: "u1"}
	other := &claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "u2"}
	tests := []struct {
		name    string
		claim   claims.Claim
		waiting string
		want    string
	}{
		{
			"all there is",
			claims.Claim{Key: "default/demo", State: claims.Bound, Row: claims.Row{
				ID: "sb_1", Token: sandboxd.NewToken(secret), Address: "10.0.0.5:7777", PodUID: "p1", Authority: "u1",
				ClaimedAt: at, Deadline: at.Add(time.Hour), Controller: sandbox,
			}},
			"something",
			`{"pod":"default/demo","id":"sb_1","state":"Bound","podUID":"p1",` +
				`"owner":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"demo","uid":"u1"},` +
				`"address":"10.0.0.5:7777","claimedAt":"2026-07-27T01:15:00Z","deadline":"2026-07-27T02:15:00Z","waitingFor":"something"}`,
		},
		{
			"the owner that the claim was preserved for",
			claims.Claim{Key: "default/demo", State: claims.Preserved, Row: claims.Row{ID: "sb_1", Owner: sandbox, Controller: other}},
			"",
			`{"pod":"default/demo","id":"sb_1","state":"Preserved","owner":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"demo","uid":"u1"}}`,
		},
		{
			"no Pod can adopt it",
			claims.Claim{Key: "default/demo", State: claims.Preserved, Row: claims.Row{ID: "sb_1", Owner: other, RandomName: true}},
			"",
			`{"pod":"default/demo","id":"sb_1","state":"Preserved","owner":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u2"},"unadoptable":true}`,
		},
		{
			"its Pod, with a random name, lives",
			claims.Claim{Key: "default/demo", State: claims.Bound, Row: claims.Row{ID: "sb_1", RandomName: true}},
			"",
			`{"pod":"default/demo","id":"sb_1","state":"Bound"}`,
		},
		{
			"held, with the whole text of what it waits for",
			claims.Claim{Key: "default/demo", State: claims.Bound, Row: claims.Row{ID: "sb_1"}},
			"an operator, or 2026-07-27T02:15:00Z: its Pod and owner went missing together with others and no deletion was seen",
			`{"pod":"default/demo","id":"sb_1","state":"Bound","waitingFor":"an operator, or 2026-07-27T02:15:00Z: its Pod and owner went missing together with others and no deletion was seen"}`,
		},
		{
			"a bare Pod, and times that are not known",
			claims.Claim{Key: "default/demo", State: claims.Quarantined, Row: claims.Row{ID: "sb_1"}},
			"",
			`{"pod":"default/demo","id":"sb_1","state":"Quarantined"}`,
		},
		{
			"released by an older build, which did not record its key",
			claims.Claim{State: claims.Releasing, Row: claims.Row{ID: "sb_1"}},
			"",
			`{"pod":"","id":"sb_1","state":"Releasing"}`,
		},
		{
			"tentative",
			claims.Claim{Key: "default/demo", State: claims.Tentative, Row: claims.Row{ID: "sb_1"}},
			"",
			`{"pod":"default/demo","id":"sb_1","state":"Tentative"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(Redact(tt.claim, tt.waiting))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the table holds, the schema takes: a row that it refused would keep
// all others from being published.
func TestTheSchemaTakesEveryRow(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	broken := "sb_\xff\xfe"
	rows := []claims.Claim{
		{State: claims.Releasing, Row: claims.Row{ID: "x"}},
		{Key: long + "/" + long, State: claims.Bound, Row: claims.Row{
			ID: long, Address: long, PodUID: types.UID(long), Owner: &claims.Owner{APIVersion: long, Kind: long, Name: long, UID: types.UID(long)},
		}},
		{Key: broken, State: claims.Preserved, Row: claims.Row{ID: broken, Owner: &claims.Owner{}}},
	}
	var redacted []api.NodeClaim
	for _, row := range rows {
		redacted = append(redacted, Redact(row, long))
	}
	encoded, err := json.Marshal(map[string]any{"status": map[string]any{"claims": redacted}})
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(encoded, &object); err != nil {
		t.Fatal(err)
	}
	if errs := crdschema.Read(t, crdFile).Validate(t, object); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestSummarize(t *testing.T) {
	row := func(pod, id string, state api.ClaimState) api.NodeClaim {
		return api.NodeClaim{Pod: pod, ID: id, State: state}
	}
	rows := []api.NodeClaim{
		row("ns/b", "1", api.ClaimBound),
		row("ns/z", "2", api.ClaimTentative),
		row("ns/a", "4", api.ClaimReleasing),
		row("ns/a", "3", api.ClaimReleasing),
		row("ns/y", "5", api.ClaimQuarantined),
		row("ns/a", "6", api.ClaimBound),
		row("ns/c", "7", api.ClaimPreserved),
		row("ns/d", "8", api.ClaimPreserved),
	}
	rows[0].LeaseEnding, rows[len(rows)-1].Unadoptable = true, true
	for range 2 {
		got := Summarize(rows)
		var ids []string
		for _, r := range got.Claims {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff([]string{"2", "5", "3", "4", "7", "8", "6", "1"}, ids); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		want := &api.ClaimCounts{Bound: 2, LeaseEnding: 1, Preserved: 2, Unadoptable: 1, Quarantined: 1, Releasing: 2, Tentative: 1, Attention: 4}
		if diff := cmp.Diff(want, got.Counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		slices.Reverse(rows)
	}
}

// A claim that moves to the releasing list between the two reads is one row.
func TestAClaimThatMovesIsOneRow(t *testing.T) {
	table := &fakeTable{
		claims:    []claims.Claim{claim("a", claims.Bound), claim("b", claims.Bound)},
		releasing: []claims.Claim{claim("a", claims.Releasing)},
	}
	rows := Summarize(Collector{Table: table, Provider: table}.rows()).Claims
	if len(rows) != 2 || rows[0].State != api.ClaimReleasing || rows[1].ID != "sb_b" {
		t.Errorf("rows = %v", rows)
	}
}
