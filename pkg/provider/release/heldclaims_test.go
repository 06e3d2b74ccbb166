// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

func TestWhichMissingOwnersAreHeld(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	claim := func(id string, state claims.State) claims.Claim {
		return claims.Claim{Key: "ns/" + id, Row: claims.Row{ID: id}, State: state}
	}
	others := func(count int) func(*heldClaims) {
		return func(h *heldClaims) {
			for i := range count {
				h.mayRelease(claim(fmt.Sprint(i), claims.Bound), start)
			}
		}
	}
	unread := ownership.Decision{Cause: ownership.Unreadable, Err: errors.New("no answer")}
	alive := ownership.Decision{Cause: ownership.Alive}
	const hold = time.Hour
	for name, tc := range map[string]struct {
		before        func(*heldClaims)
		after         time.Duration // from the first reading of x to the one that counts
		release, held bool
	}{
		"alone, at once":        {others(0), 0, false, false},
		"alone, not yet":        {others(0), missingGather - 1, false, false},
		"alone, later":          {others(0), missingGather, true, false},
		"two":                   {others(manyMissing - 2), missingGather, true, false},
		"many":                  {others(manyMissing - 1), missingGather, false, true},
		"many, not yet":         {others(manyMissing - 1), hold - 1, false, true},
		"many, after the hold":  {others(manyMissing - 1), hold, true, true},
		"many, approved":        {func(h *heldClaims) { others(manyMissing - 1)(h); h.approve(start.Add(time.Second)) }, 0, true, false},
		"many, approved before": {func(h *heldClaims) { others(manyMissing - 1)(h); h.approve(start.Add(-time.Second)) }, time.Minute, false, true},
		"one was found before":  {func(h *heldClaims) { others(manyMissing - 1)(h); h.forget("0") }, missingGather, true, false},
		"one is alive":          {func(h *heldClaims) { others(manyMissing - 1)(h); h.kept(claim("0", claims.Bound), alive, start) }, missingGather, true, false},
		"one is over":           {func(h *heldClaims) { others(manyMissing - 1)(h); h.prune(func(id string) bool { return id == "1" }) }, missingGather, true, false},
		"one was displaced":     {func(h *heldClaims) { others(manyMissing - 1)(h); h.displace("0", start) }, missingGather, false, true},
		"it is displaced again and again": {func(h *heldClaims) {
			h.mayRelease(claim("x", claims.Bound), start)
			h.displace("x", start)
			h.displace("x", start.Add(missingGather-1))
		}, missingGather, true, false},
		"one was displaced twice over": {func(h *heldClaims) { others(manyMissing - 2)(h); h.displace("0", start) }, missingGather, true, false},
		"one was displaced long ago": {func(h *heldClaims) {
			others(manyMissing - 2)(h)
			h.displace("d", start.Add(-hold))
		}, missingGather, true, false},
		"one cannot be read": {func(h *heldClaims) { others(manyMissing - 2)(h); h.kept(claim("u", claims.Bound), unread, start) }, missingGather, false, true},
		"one is preserved and unread": {func(h *heldClaims) {
			others(manyMissing - 2)(h)
			h.kept(claim("u", claims.Preserved), unread, start)
		}, missingGather, true, false},
		"the same one, often": {func(h *heldClaims) { h.mayRelease(claim("0", claims.Bound), start); others(1)(h) }, missingGather, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := heldClaims{hold: hold}
			tc.before(&h)
			x := claim("x", claims.Bound)
			if tc.after > 0 {
				if release, _, _ := h.mayRelease(x, start); release {
					t.Fatal("released by the first reading")
				}
			}
			if release, held, _ := h.mayRelease(x, start.Add(tc.after)); release != tc.release || held != tc.held {
				t.Errorf("release %t, held %t, want %t and %t", release, held, tc.release, tc.held)
			}
		})
	}
}

// A Pod of another owner that waits for capacity wants the claim's name again and again.
// That does not begin the wait for the release anew.
func TestADisplacedClaimIsReleasedInTime(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, others := range map[string]int{"alone": 0, "held with others": manyMissing - 1} {
		t.Run(name, func(t *testing.T) {
			h := heldClaims{hold: time.Hour}
			for i := range others {
				h.mayRelease(claims.Claim{Row: claims.Row{ID: fmt.Sprint(i)}}, start)
			}
			x := claims.Claim{Row: claims.Row{ID: "x"}}
			for now := start; ; now = now.Add(5 * time.Second) {
				h.displace("x", now)
				release, _, began := h.mayRelease(x, now)
				if began && now != start {
					t.Fatalf("the hold begins again after %v", now.Sub(start))
				}
				want := missingGather
				if others > 0 {
					want = time.Hour
				}
				if release != (now.Sub(start) >= want) {
					t.Fatalf("released %t after %v, want it after %v", release, now.Sub(start), want)
				}
				if release {
					return
				}
			}
		})
	}
}

// The beginning of a hold is reported once; it also holds the claims that waited before.
func TestAHoldBeginsOnce(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	h := heldClaims{hold: time.Hour}
	for i, want := range []bool{false, false, true, true} {
		_, _, began := h.mayRelease(claims.Claim{Row: claims.Row{ID: fmt.Sprint(i)}}, start)
		if got := h.count() > 0; got != want || began != (i == manyMissing-1) {
			t.Errorf("with %d missing: held %t, began %t", i+1, got, began)
		}
	}
	if until, held := h.until("0"); !held || !until.Equal(start.Add(time.Hour)) {
		t.Errorf("the first is held %t until %v", held, until)
	}
	if _, held := h.until("z"); held {
		t.Error("a claim that is not missing is held")
	}
}
