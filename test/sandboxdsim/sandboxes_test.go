// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"strings"
	"testing"
)

func TestReleaseDestroysOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		token func(claimed) string
		by    Actor
	}{
		"sandbox token": {func(c claimed) string { return c.Token }, BySandbox},
		"root token":    {func(claimed) string { return rootToken }, ByRoot},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, testConfig())
			c := b.claim(claimBody("a/b"))
			path := "/v1/sandboxes/" + c.ID + "/release"
			b.want(404, "POST", path, "wrong", "")
			if b.ids() != "a/b" {
				t.Fatal("a release under a wrong token destroyed the sandbox")
			}
			b.want(204, "POST", path, tc.token(c), "")
			b.want(404, "POST", path, tc.token(c), "")
			b.wantHistory(c.ID, "made claimed answered released")
			if by := b.Truth(EventFilter{}).Counters.DestroyedBy; by[tc.by] != 1 || len(by) != 1 {
				t.Errorf("destroyed by %v", by)
			}
			if ids := b.ids(); ids != "" {
				t.Errorf("still listed: %s", ids)
			}
		})
	}
}

func TestAWarmVMIsNoSandbox(t *testing.T) {
	b := start(t, testConfig())
	warm := b.Truth(EventFilter{}).VMs[0]
	b.want(404, "GET", "/v1/sandboxes/"+warm.ID, rootToken, "")
	b.want(404, "POST", "/v1/sandboxes/"+warm.ID+"/release", rootToken, "")
	b.want(404, "POST", "/v1/sandboxes/"+warm.ID+"/hibernate", rootToken, "")
	if err := b.Expire(warm.ID); err == nil {
		t.Error("a warm VM expired")
	}
	if err := b.Archive(warm.ID); err == nil {
		t.Error("a warm VM was archived")
	}
}

func TestListNarrowsByClaimRef(t *testing.T) {
	b := start(t, testConfig())
	for _, ref := range []string{"a/1", "a/2", "a/2", ""} {
		b.claim(claimBody(ref))
	}
	for query, want := range map[string]int{"": 4, "?claim_ref=a/2": 2, "?claim_ref=a%2F1": 1, "?claim_ref=a/3": 0, "?claim_ref=": 1} {
		a := b.want(200, "GET", "/v1/sandboxes"+query, rootToken, "")
		if !strings.HasPrefix(string(a.body), `{"sandboxes":[`) {
			t.Errorf("%q: body %s", query, a.body)
		}
		if got := len(decodeAs[listed](b, a.body).Sandboxes); got != want {
			t.Errorf("%q: %d rows, want %d", query, got, want)
		}
	}
}

func TestSingleRead(t *testing.T) {
	b := start(t, testConfig())
	c := b.claim(claimBody("a/b"))
	a := b.want(200, "GET", "/v1/sandboxes/"+c.ID, rootToken, "")
	if row := decodeAs[row](b, a.body); row.ID != c.ID || row.ClaimRef != "a/b" {
		t.Errorf("row %s", a.body)
	}
	b.want(404, "GET", "/v1/sandboxes/sb_none", rootToken, "")
}

func TestNothingListedHasAToken(t *testing.T) {
	b := start(t, testConfig())
	c := b.claim(claimBody("a/b"))
	for _, path := range []string{"/v1/sandboxes", "/v1/sandboxes/" + c.ID, "/v1/info"} {
		if a := b.want(200, "GET", path, rootToken, ""); strings.Contains(string(a.body), TokenPrefix) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if held, err := b.Token(c.ID); err != nil || held != c.Token {
		t.Errorf("Token: %q, %v", held, err)
	}
}
