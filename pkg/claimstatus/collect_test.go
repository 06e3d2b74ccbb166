// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// A Pod that has ended may stay for days, and must not keep the node from being
// Ready after a restart of the daemon.
func TestEndedPodsWaitForNothing(t *testing.T) {
	quarantined := func(id string) claims.Claim {
		return claims.Claim{Key: "default/" + id, State: claims.Quarantined, Row: claims.Row{ID: id}}
	}
	for name, tc := range map[string]struct {
		ended  map[string]bool
		counts api.ClaimCounts
	}{
		"neither has ended": {nil, api.ClaimCounts{Quarantined: 2, Attention: 2}},
		"one has ended":     {map[string]bool{"a": true}, api.ClaimCounts{Bound: 1, Quarantined: 1, Attention: 1}},
		"both have ended":   {map[string]bool{"a": true, "b": true}, api.ClaimCounts{Bound: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			table := &fakeTable{claims: []claims.Claim{quarantined("a"), quarantined("b")}, ended: tc.ended}
			collector := Collector{Table: table, Provider: table}
			got := collector.Collect()
			if *got.Counts != tc.counts {
				t.Errorf("counts %+v, want %+v", *got.Counts, tc.counts)
			}
			if want := tc.counts.Quarantined == 0; meta.IsStatusConditionTrue(got.Conditions, api.ConditionReady) != want {
				t.Errorf("conditions %+v, want Ready %v", got.Conditions, want)
			}
		})
	}
}
