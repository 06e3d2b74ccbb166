// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"testing"
	"time"
)

func TestWhenAPodIsTriedAgain(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := func(times int) func(*attempts) {
		return func(a *attempts) {
			for range times {
				a.failed("ns/a", "P1", start)
			}
		}
	}
	for name, tc := range map[string]struct {
		before func(*attempts)
		wait   time.Duration
	}{
		"never tried":              {func(*attempts) {}, 0},
		"left to the library":      {func(a *attempts) { a.expect("ns/a", "P1", start) }, libraryPatience},
		"left to it again":         {func(a *attempts) { a.expect("ns/a", "P1", start.Add(-time.Minute)); a.expect("ns/a", "P1", start) }, libraryPatience - time.Minute},
		"failed by the library":    {func(a *attempts) { a.byLibrary("ns/a", "P1", errors.New("no"), start) }, libraryPatience},
		"served by the library":    {func(a *attempts) { failed(3)(a); a.byLibrary("ns/a", "P1", nil, start) }, 0},
		"failed once":              {failed(1), attemptFirst},
		"failed twice":             {failed(2), 2 * attemptFirst},
		"failed three times":       {failed(3), 4 * attemptFirst},
		"failed often":             {failed(20), attemptMost},
		"waiting for an answer":    {func(a *attempts) { failed(9)(a); a.awaiting("ns/a", "P1", start) }, attemptFirst},
		"another Pod of the name":  {func(a *attempts) { a.failed("ns/a", "P0", start) }, 0},
		"its first after another":  {func(a *attempts) { a.failed("ns/a", "P0", start); a.failed("ns/a", "P0", start); failed(1)(a) }, attemptFirst},
		"no longer wanted":         {func(a *attempts) { failed(5)(a); a.prune(func(string) bool { return false }) }, 0},
		"wanted":                   {func(a *attempts) { failed(1)(a); a.prune(func(key string) bool { return key == "ns/a" }) }, attemptFirst},
		"expected after a failure": {func(a *attempts) { failed(1)(a); a.expect("ns/a", "P1", start) }, attemptFirst},
	} {
		t.Run(name, func(t *testing.T) {
			var a attempts
			tc.before(&a)
			if tc.wait > 0 && a.due("ns/a", "P1", start.Add(tc.wait-time.Nanosecond)) {
				t.Errorf("due before %v", tc.wait)
			}
			if !a.due("ns/a", "P1", start.Add(tc.wait)) {
				t.Errorf("not due after %v", tc.wait)
			}
		})
	}
}
