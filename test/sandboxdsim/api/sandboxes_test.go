// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestReleaseDestroysOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		token func(simtest.Claimed) string
		by    history.Actor
	}{
		"sandbox token": {func(c simtest.Claimed) string { return c.Token }, history.BySandbox},
		"root token":    {func(simtest.Claimed) string { return simtest.RootToken }, history.ByRoot},
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			c := b.Claim(simtest.ClaimBody("a/b"))
			path := "/v1/sandboxes/" + c.ID + "/release"
			b.Want(404, "POST", path, "wrong", "")
			if b.Refs() != "a/b" {
				t.Fatal("a release under a wrong token destroyed the sandbox")
			}
			b.Want(204, "POST", path, tc.token(c), "")
			b.Want(404, "POST", path, tc.token(c), "")
			b.WantHistory(c.ID, "made claimed answered released")
			if by := b.History(history.Filter{}).Counters.DestroyedBy; by[tc.by] != 1 || len(by) != 1 {
				t.Errorf("destroyed by %v", by)
			}
			if ids := b.Refs(); ids != "" {
				t.Errorf("still listed: %s", ids)
			}
		})
	}
}

func TestAWarmVMIsNoSandbox(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	warm := b.History(history.Filter{}).VMs[0]
	b.Want(404, "GET", "/v1/sandboxes/"+warm.ID, simtest.RootToken, "")
	b.Want(404, "POST", "/v1/sandboxes/"+warm.ID+"/release", simtest.RootToken, "")
	b.Want(404, "POST", "/v1/sandboxes/"+warm.ID+"/hibernate", simtest.RootToken, "")
	if err := b.Expire(warm.ID); err == nil {
		t.Error("a warm VM expired")
	}
	if err := b.Archive(warm.ID); err == nil {
		t.Error("a warm VM was archived")
	}
}

func TestListNarrowsByClaimRef(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	for _, ref := range []string{"a/1", "a/2", "a/2", ""} {
		b.Claim(simtest.ClaimBody(ref))
	}
	for query, want := range map[string]int{"": 4, "?claim_ref=a/2": 2, "?claim_ref=a%2F1": 1, "?claim_ref=a/3": 0, "?claim_ref=": 4} {
		a := b.Want(200, "GET", "/v1/sandboxes"+query, simtest.RootToken, "")
		if !strings.HasPrefix(string(a.Body), `{"sandboxes":[`) {
			t.Errorf("%q: body %s", query, a.Body)
		}
		if got := len(simtest.Decode[simtest.Listed](b, a.Body).Sandboxes); got != want {
			t.Errorf("%q: %d rows, want %d", query, got, want)
		}
	}
}

func TestSingleRead(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/b"))
	a := b.Want(200, "GET", "/v1/sandboxes/"+c.ID, simtest.RootToken, "")
	row := simtest.Decode[struct {
		ID       string
		ClaimRef string `json:"claim_ref"`
	}](b, a.Body)
	if row.ID != c.ID || row.ClaimRef != "a/b" {
		t.Errorf("row %s", a.Body)
	}
	b.Want(404, "GET", "/v1/sandboxes/sb_none", simtest.RootToken, "")
}

func TestNothingListedHasAToken(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/b"))
	for _, path := range []string{"/v1/sandboxes", "/v1/sandboxes/" + c.ID, "/v1/info"} {
		if a := b.Want(200, "GET", path, simtest.RootToken, ""); strings.Contains(string(a.Body), host.TokenPrefix) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	if held, err := b.Token(c.ID); err != nil || held != c.Token {
		t.Errorf("Token: %q, %v", held, err)
	}
}
