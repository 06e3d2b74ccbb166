// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

func TestSinceWhenASandboxIsMissing(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	claimed := map[string]claims.Claim{"x": {}}
	now := time.Minute
	for name, tc := range map[string]struct {
		before func(*missingSince)
		since  time.Duration
	}{
		"first seen missing":               {func(*missingSince) {}, now},
		"missing all the time":             {func(m *missingSince) { m.observe("x", at(0)); m.observe("x", at(30*time.Second)) }, 0},
		"not asked for too long":           {func(m *missingSince) { m.observe("x", at(now-observationTTL-1)) }, now},
		"asked just in time":               {func(m *missingSince) { m.observe("x", at(now-observationTTL)) }, now - observationTTL},
		"another is missing":               {func(m *missingSince) { m.observe("y", at(0)) }, now},
		"seen in between":                  {func(m *missingSince) { m.observe("x", at(0)); m.forget("x") }, now},
		"another was seen":                 {func(m *missingSince) { m.observe("x", at(0)); m.forget("y") }, 0},
		"sandboxd failed in between":       {func(m *missingSince) { m.observe("x", at(0)); m.listFailed(at(1), false) }, 0},
		"sandboxd was away in between":     {func(m *missingSince) { m.observe("x", at(0)); m.listFailed(at(1), true) }, now},
		"confirmed":                        {func(m *missingSince) { m.observe("x", at(0)); m.confirm("x") }, -goneAfter},
		"confirmed, long ago":              {func(m *missingSince) { m.observe("x", at(-time.Hour)); m.confirm("x") }, -time.Hour - goneAfter},
		"confirmed, and sandboxd was away": {func(m *missingSince) { m.observe("x", at(0)); m.confirm("x"); m.listFailed(at(1), true) }, -goneAfter},
		"confirmed, and seen":              {func(m *missingSince) { m.observe("x", at(0)); m.confirm("x"); m.forget("x") }, now},
		"confirmed without an observation": {func(m *missingSince) { m.confirm("x") }, now},
		"pruned while it counts":           {func(m *missingSince) { m.observe("x", at(0)); m.prune(at(now), nil) }, 0},
		"pruned when certain":              {func(m *missingSince) { m.observe("x", at(-time.Hour)); m.confirm("x"); m.prune(at(now), claimed) }, -time.Hour - goneAfter},
		"pruned when nobody claims it":     {func(m *missingSince) { m.observe("x", at(-time.Hour)); m.confirm("x"); m.prune(at(now), nil) }, now},
	} {
		t.Run(name, func(t *testing.T) {
			var m missingSince
			tc.before(&m)
			if got := m.observe("x", at(now)).Sub(start); got != tc.since {
				t.Errorf("missing since %v, want %v", got, tc.since)
			}
		})
	}
}

// Observations of finished sandboxes are dropped.
func TestOldObservationsArePruned(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var m missingSince
	m.observe("old", start)
	m.observe("confirmed", start)
	m.confirm("confirmed")
	m.observe("claimed", start)
	m.confirm("claimed")
	m.observe("new", start.Add(time.Hour))
	m.prune(start.Add(time.Hour), map[string]claims.Claim{"claimed": {}, "old": {}})
	if _, kept := m.spans["claimed"]; !kept || len(m.spans) != 2 || m.spans["new"].first.IsZero() {
		t.Errorf("kept %v, want the new one and the claimed one", m.spans)
	}
}
