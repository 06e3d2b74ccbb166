// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package attempts

import (
	"errors"
	"testing"
	"time"
)

func TestWhenAPodIsTriedAgain(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := func(times int) func(*Tracker) {
		return func(a *Tracker) {
			for range times {
				a.Failed("ns/a", "P1", start)
			}
		}
	}
	for name, tc := range map[string]struct {
		before func(*Tracker)
		wait   time.Duration
	}{
		"never tried":         {func(*Tracker) {}, 0},
		"left to the library": {func(a *Tracker) { a.LeaveToLibrary("ns/a", "P1", start) }, LibraryPatience},
		"left to it again": {func(a *Tracker) {
			a.LeaveToLibrary("ns/a", "P1", start.Add(-time.Minute))
			a.LeaveToLibrary("ns/a", "P1", start)
		}, LibraryPatience - time.Minute},
		"failed by the library":    {func(a *Tracker) { a.ByLibrary("ns/a", "P1", errors.New("no"), start) }, LibraryPatience},
		"served by the library":    {func(a *Tracker) { failed(3)(a); a.ByLibrary("ns/a", "P1", nil, start) }, 0},
		"failed once":              {failed(1), First},
		"failed twice":             {failed(2), 2 * First},
		"failed three times":       {failed(3), 4 * First},
		"failed often":             {failed(20), Longest},
		"waiting for an answer":    {func(a *Tracker) { failed(9)(a); a.Awaiting("ns/a", "P1", start) }, First},
		"another Pod of the name":  {func(a *Tracker) { a.Failed("ns/a", "P0", start) }, 0},
		"its first after another":  {func(a *Tracker) { a.Failed("ns/a", "P0", start); a.Failed("ns/a", "P0", start); failed(1)(a) }, First},
		"no longer wanted":         {func(a *Tracker) { failed(5)(a); a.Prune(func(string) bool { return false }) }, 0},
		"wanted":                   {func(a *Tracker) { failed(1)(a); a.Prune(func(key string) bool { return key == "ns/a" }) }, First},
		"expected after a failure": {func(a *Tracker) { failed(1)(a); a.LeaveToLibrary("ns/a", "P1", start) }, First},
	} {
		t.Run(name, func(t *testing.T) {
			var a Tracker
			tc.before(&a)
			if tc.wait > 0 && a.Due("ns/a", "P1", start.Add(tc.wait-time.Nanosecond)) {
				t.Errorf("due before %v", tc.wait)
			}
			if !a.Due("ns/a", "P1", start.Add(tc.wait)) {
				t.Errorf("not due after %v", tc.wait)
			}
		})
	}
}
