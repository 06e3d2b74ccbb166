// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

func TestMetrics(t *testing.T) {
	for state, want := range map[place.State]string{
		place.Unknown: "", place.Accepted: "1", place.OtherCluster: "0", place.OtherHost: "0",
	} {
		m := metrics.NewRegistry("")
		place.NewMetrics(m).Watch(func() place.Status { return place.Status{State: state} })
		if got := scrape.Read(t, m.Handler()).Series["vk_sandbox_claims_table_accepted"]; got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
