// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// guard is a guard's status.
type guard struct{ state place.State }

func (g *guard) Status() place.Status { return place.Status{State: g.state} }

func TestClaimsTableAccepted(t *testing.T) {
	for state, want := range map[place.State]string{
		place.Unknown: "", place.Accepted: "1", place.OtherCluster: "0", place.OtherHost: "0",
	} {
		m := metrics.New("v1.2.3")
		m.WatchGuard(&guard{state})
		if got := read(t, m).series["vk_sandbox_claims_table_accepted"]; got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
