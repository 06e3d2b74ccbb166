// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

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
		before func(*absences)
		since  time.Duration
	}{
		"first seen missing":             {func(*absences) {}, now},
		"missing all the time":           {func(a *absences) { a.note("x", at(0)); a.note("x", at(30*time.Second)) }, 0},
		"not asked for too long":         {func(a *absences) { a.note("x", at(now-absenceMemory-1)) }, now},
		"asked just in time":             {func(a *absences) { a.note("x", at(now-absenceMemory)) }, now - absenceMemory},
		"another is missing":             {func(a *absences) { a.note("y", at(0)) }, now},
		"seen in between":                {func(a *absences) { a.note("x", at(0)); a.forget("x") }, now},
		"another was seen":               {func(a *absences) { a.note("x", at(0)); a.forget("y") }, 0},
		"sandboxd failed in between":     {func(a *absences) { a.note("x", at(0)); a.failed(at(1), false) }, 0},
		"sandboxd was away in between":   {func(a *absences) { a.note("x", at(0)); a.failed(at(1), true) }, now},
		"certain":                        {func(a *absences) { a.note("x", at(0)); a.confirm("x") }, -lostSpan},
		"certain, long ago":              {func(a *absences) { a.note("x", at(-time.Hour)); a.confirm("x") }, -time.Hour - lostSpan},
		"certain, and sandboxd was away": {func(a *absences) { a.note("x", at(0)); a.confirm("x"); a.failed(at(1), true) }, -lostSpan},
		"certain, and seen":              {func(a *absences) { a.note("x", at(0)); a.confirm("x"); a.forget("x") }, now},
		"confirmed without being asked":  {func(a *absences) { a.confirm("x") }, now},
		"shed while it counts":           {func(a *absences) { a.note("x", at(0)); a.shed(at(now), nil) }, 0},
		"shed when certain":              {func(a *absences) { a.note("x", at(-time.Hour)); a.confirm("x"); a.shed(at(now), claimed) }, -time.Hour - lostSpan},
		"shed when nobody claims it":     {func(a *absences) { a.note("x", at(-time.Hour)); a.confirm("x"); a.shed(at(now), nil) }, now},
	} {
		t.Run(name, func(t *testing.T) {
			var a absences
			tc.before(&a)
			if got := a.note("x", at(now)).Sub(start); got != tc.since {
				t.Errorf("missing since %v, want %v", got, tc.since)
			}
		})
	}
}

// What is remembered of sandboxes that are over does not grow.
func TestAbsencesAreShed(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var a absences
	a.note("old", start)
	a.note("certain", start)
	a.confirm("certain")
	a.note("claimed", start)
	a.confirm("claimed")
	a.note("new", start.Add(time.Hour))
	a.shed(start.Add(time.Hour), map[string]claims.Claim{"claimed": {}, "old": {}})
	if _, kept := a.seen["claimed"]; !kept || len(a.seen) != 2 || a.seen["new"].first.IsZero() {
		t.Errorf("kept %v, want the new one and the claimed one", a.seen)
	}
}
