// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClaimAnswersAndKeepsASandbox(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		c := b.claim(claimBody("team-red/notebook-a"))
		if !regexp.MustCompile(`^sb_[0-9a-f]{16}$`).MatchString(c.ID) || !strings.HasPrefix(c.Token, TokenPrefix) {
			b.Errorf("id %q, token %q", c.ID, c.Token)
		}
		if c.OwnerAddr != "10.0.0.5:7777" {
			b.Errorf("owner_addr %q", c.OwnerAddr)
		}
		row := b.list("").Sandboxes[0]
		if row.ID != c.ID || row.Key != testKey || row.ClaimRef != "team-red/notebook-a" || !row.Deadline.Equal(c.Deadline) {
			b.Errorf("row %+v for claim %+v", row, c)
		}
		b.wantHistory(c.ID, "made claimed answered")
		e := b.Truth(EventFilter{Type: EventClaimed}).Events[0]
		if e.By != ByRoot || e.Provision != WarmHit || e.ClaimRef != "team-red/notebook-a" {
			b.Errorf("event %+v", e)
		}
	})
}

func TestClaimLease(t *testing.T) {
	for name, tc := range map[string]struct {
		ttl  string
		want time.Duration
	}{
		"absent is the default":   {``, 5 * time.Minute},
		"zero is the default":     {`,"ttl_seconds":0`, 5 * time.Minute},
		"given":                   {`,"ttl_seconds":90`, 90 * time.Second},
		"a day":                   {`,"ttl_seconds":86400`, 24 * time.Hour},
		"more is capped at a day": {`,"ttl_seconds":9223372036854775807`, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, testConfig(), func(b bench) {
				c := b.claim(`{"template":"` + image + `"` + tc.ttl + `}`)
				if got := time.Until(c.Deadline); got != tc.want {
					b.Errorf("lease %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestClaimRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		body   string
		set    func(*Config)
		status int
	}{
		"no body":                    {"", nil, 400},
		"not JSON":                   {"{", nil, 400},
		"no template":                {`{}`, nil, 400},
		"unknown template":           {`{"template":"other"}`, nil, 400},
		"unknown size":               {`{"template":"` + image + `","size":"huge"}`, nil, 400},
		"no pool of a size":          {`{"template":"` + image + `","size":"large"}`, nil, 400},
		"ttl is text":                {`{"template":"` + image + `","ttl_seconds":"1h"}`, nil, 400},
		"ttl is negative":            {`{"template":"` + image + `","ttl_seconds":-1}`, nil, 400},
		"over 1 MiB":                 {`{"template":"` + image + `","claim_ref":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 400},
		"no egress":                  {`{"template":"` + image + `","net":"internet"}`, nil, 409},
		"node full":                  {claimBody("a/b"), func(c *Config) { c.MaxClaims = -1 }, 429},
		"tenant bound is not root's": {claimBody("a/b"), func(c *Config) { c.TenantMaxClaims = -1 }, 200},
		"unknown fields are ignored": {`{"template":"` + image + `","from":"later"}`, nil, 200},
		"lane without that size": {`{"template":"` + image + `","net":"internet"}`, func(c *Config) {
			c.Pools = append(c.Pools, Pool{Key: Key{image, "internet", "large"}})
		}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			if tc.set != nil {
				tc.set(&cfg)
			}
			inBubble(t, cfg, func(b bench) {
				a := b.want(tc.status, "POST", "/v1/claim", rootToken, tc.body)
				if retry := a.header.Get("Retry-After"); (retry == "1") != (tc.status == 429) {
					b.Errorf("Retry-After %q with status %d", retry, a.status)
				}
				if claims := b.Truth(EventFilter{}).Counters.Claimed; (claims == 1) != (tc.status == 200) {
					b.Errorf("%d claims made", claims)
				}
			})
		})
	}
}

func TestClaimBounds(t *testing.T) {
	cfg := testConfig()
	cfg.MaxClaims, cfg.TenantMaxClaims = 3, 1
	inBubble(t, cfg, func(b bench) {
		b.want(200, "POST", "/v1/claim", tenantToken, claimBody("a/1"))
		b.want(429, "POST", "/v1/claim", tenantToken, claimBody("a/2"))
		c := b.claim(claimBody("a/3"))
		b.claim(claimBody("a/4"))
		b.want(429, "POST", "/v1/claim", rootToken, claimBody("a/5"))
		b.do(b.Archive(c.ID))
		b.claim(claimBody("a/6"))
		b.want(429, "POST", "/v1/sandboxes/"+c.ID+"/wake", c.Token, "")
	})
}

func TestClaimBoundCountsClaimsInFlight(t *testing.T) {
	cfg := testConfig()
	cfg.MaxClaims, cfg.Latency = 1, Latency{WarmHit: {time.Second, time.Second}}
	inBubble(t, cfg, func(b bench) {
		statuses := make(chan int, 2)
		for range 2 {
			go func() {
				a, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b"))
				if err != nil {
					b.Error(err)
				}
				statuses <- a.status
			}()
		}
		got := []int{<-statuses, <-statuses}
		slices.Sort(got)
		if !slices.Equal(got, []int{200, 429}) {
			b.Errorf("statuses %v, want one 200 and one 429", got)
		}
	})
}

func TestClaimRedirect(t *testing.T) {
	peers := []string{"10.0.0.6:7777", "10.0.0.7:7777"}
	for name, tc := range map[string]struct {
		when       Redirect
		peers      []string
		max        int
		noRedirect bool
		status     int
		redirected bool
	}{
		"never, and full":           {RedirectNever, peers, -1, false, 429, false},
		"never, and a miss":         {RedirectNever, peers, 0, false, 200, false},
		"when full":                 {RedirectFull, peers, -1, false, 200, true},
		"when full, on a miss":      {RedirectFull, peers, 0, false, 200, false},
		"when full, refused":        {RedirectFull, peers, -1, true, 429, false},
		"on a miss":                 {RedirectMiss, peers, 0, false, 200, true},
		"on a miss, refused":        {RedirectMiss, peers, 0, true, 200, false},
		"on a miss, and full":       {RedirectMiss, peers, -1, false, 200, true},
		"on a miss, without a peer": {RedirectMiss, nil, 0, false, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			cfg.Redirect, cfg.Peers, cfg.MaxClaims, cfg.Pools[0].Target = tc.when, tc.peers, tc.max, 0
			inBubble(t, cfg, func(b bench) {
				body := claimBody("a/b")
				if tc.noRedirect {
					body = strings.Replace(body, "{", `{"no_redirect":true,`, 1)
				}
				a := b.want(tc.status, "POST", "/v1/claim", rootToken, body)
				if tc.status != http.StatusOK {
					return
				}
				c := decodeAs[claimed](b, a.body)
				if tc.redirected != slices.Equal(c.Redirect, peers) || tc.redirected != (c.ID == "") {
					b.Errorf("answer %s", a.body)
				}
			})
		})
	}
}

func TestClaimLatency(t *testing.T) {
	cfg := testConfig()
	cfg.Pools = append(cfg.Pools, Pool{Key: Key{image, "none", "large"}, NoGolden: true})
	cfg.Latency = RealLatency()
	large := `{"template":"` + image + `","size":"large"}`
	inBubble(t, cfg, func(b bench) {
		for _, tc := range []struct {
			body string
			how  Provision
		}{{claimBody("a/1"), WarmHit}, {claimBody("a/2"), WarmHit}, {claimBody("a/3"), Clone}, {large, ColdBoot}} {
			before := time.Now()
			c := b.claim(tc.body)
			took, span := time.Since(before), RealLatency()[tc.how]
			if took < span.Min || took > span.Max {
				b.Errorf("%s took %v, want within %v", tc.how, took, span)
			}
			if e := b.Truth(EventFilter{Sandbox: c.ID, Type: EventClaimed}).Events[0]; e.Provision != tc.how {
				b.Errorf("claim %s by %s, want %s", c.ID, e.Provision, tc.how)
			}
		}
	})
}

func TestPoolKeysDefaultAsClaimsDo(t *testing.T) {
	cfg := testConfig()
	cfg.Pools = []Pool{{Key: Key{Template: image}, Target: 1}}
	b := start(t, cfg)
	b.claim(`{"template":"` + image + `","net":"none","size":"small"}`)
	b.claim(claimBody("a/b"))
}

func TestSameSeedSameIDs(t *testing.T) {
	var first string
	for range 2 {
		inBubble(t, testConfig(), func(b bench) {
			c := b.claim(claimBody("a/b"))
			if got := c.ID + c.Token; first == "" {
				first = got
			} else if got != first {
				b.Errorf("%s, then %s", first, got)
			}
		})
	}
}
