// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestClaimAnswersAndKeepsASandbox(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		c := b.Claim(simtest.ClaimBody("team-red/notebook-a"))
		if !regexp.MustCompile(`^sb_[0-9a-f]{16}$`).MatchString(c.ID) || !strings.HasPrefix(c.Token, host.TokenPrefix) {
			b.Errorf("id %q, token %q", c.ID, c.Token)
		}
		if c.OwnerAddr != "10.0.0.5:7777" {
			b.Errorf("owner_addr %q", c.OwnerAddr)
		}
		row := b.List("").Sandboxes[0]
		if row.ID != c.ID || row.Key != simtest.Key() || row.ClaimRef != "team-red/notebook-a" || !row.Deadline.Equal(c.Deadline) {
			b.Errorf("row %+v for claim %+v", row, c)
		}
		b.WantHistory(c.ID, "made claimed answered")
		e := b.History(history.Filter{Type: history.EventClaimed}).Events[0]
		if e.By != history.ByRoot || e.Provision != config.WarmHit || e.ClaimRef != "team-red/notebook-a" {
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
			simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
				c := b.Claim(`{"template":"` + simtest.Image + `"` + tc.ttl + `}`)
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
		set    func(*config.Config)
		status int
	}{
		"no body":                    {"", nil, 400},
		"not JSON":                   {"{", nil, 400},
		"no template":                {`{}`, nil, 400},
		"unknown template":           {`{"template":"other"}`, nil, 400},
		"unknown size":               {`{"template":"` + simtest.Image + `","size":"huge"}`, nil, 400},
		"no pool of a size":          {`{"template":"` + simtest.Image + `","size":"large"}`, nil, 400},
		"ttl is text":                {`{"template":"` + simtest.Image + `","ttl_seconds":"1h"}`, nil, 400},
		"ttl is negative":            {`{"template":"` + simtest.Image + `","ttl_seconds":-1}`, nil, 400},
		"over 1 MiB":                 {`{"template":"` + simtest.Image + `","claim_ref":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 400},
		"no egress":                  {`{"template":"` + simtest.Image + `","net":"internet"}`, nil, 409},
		"node full":                  {simtest.ClaimBody("a/b"), func(c *config.Config) { c.MaxClaims = -1 }, 429},
		"tenant bound is not root's": {simtest.ClaimBody("a/b"), func(c *config.Config) { c.TenantMaxClaims = -1 }, 200},
		"unknown fields are ignored": {`{"template":"` + simtest.Image + `","from":"later"}`, nil, 200},
		"lane without that size": {`{"template":"` + simtest.Image + `","net":"internet"}`, func(c *config.Config) {
			c.Pools = append(c.Pools, config.Pool{Key: config.Key{Template: simtest.Image, Net: "internet", Size: "large"}})
		}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			if tc.set != nil {
				tc.set(&cfg)
			}
			simtest.InBubble(t, cfg, func(b simtest.Sim) {
				a := b.Want(tc.status, "POST", "/v1/claim", simtest.RootToken, tc.body)
				if retry := a.Header.Get("Retry-After"); (retry == "1") != (tc.status == 429) {
					b.Errorf("Retry-After %q with status %d", retry, a.Status)
				}
				if claims := b.History(history.Filter{}).Counters.Claimed; (claims == 1) != (tc.status == 200) {
					b.Errorf("%d claims made", claims)
				}
			})
		})
	}
}

func TestClaimBounds(t *testing.T) {
	cfg := simtest.Config()
	cfg.MaxClaims, cfg.TenantMaxClaims = 3, 1
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		b.Want(200, "POST", "/v1/claim", simtest.TenantToken, simtest.ClaimBody("a/1"))
		b.Want(429, "POST", "/v1/claim", simtest.TenantToken, simtest.ClaimBody("a/2"))
		c := b.Claim(simtest.ClaimBody("a/3"))
		b.Claim(simtest.ClaimBody("a/4"))
		b.Want(429, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/5"))
		b.Must(b.Archive(c.ID))
		b.Claim(simtest.ClaimBody("a/6"))
		b.Want(429, "POST", "/v1/sandboxes/"+c.ID+"/wake", c.Token, "")
	})
}

func TestClaimBoundCountsClaimsInFlight(t *testing.T) {
	cfg := simtest.Config()
	cfg.MaxClaims, cfg.Latency = 1, config.Latency{config.WarmHit: {Min: time.Second, Max: time.Second}}
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		statuses := make(chan int, 2)
		for range 2 {
			go func() {
				a, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
				if err != nil {
					b.Error(err)
				}
				statuses <- a.Status
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
		when       config.Redirect
		peers      []string
		max        int
		noRedirect bool
		status     int
		redirected bool
	}{
		"never, and full":           {config.RedirectNever, peers, -1, false, 429, false},
		"never, and a miss":         {config.RedirectNever, peers, 0, false, 200, false},
		"when full":                 {config.RedirectFull, peers, -1, false, 200, true},
		"when full, on a miss":      {config.RedirectFull, peers, 0, false, 200, false},
		"when full, refused":        {config.RedirectFull, peers, -1, true, 429, false},
		"on a miss":                 {config.RedirectMiss, peers, 0, false, 200, true},
		"on a miss, refused":        {config.RedirectMiss, peers, 0, true, 200, false},
		"on a miss, and full":       {config.RedirectMiss, peers, -1, false, 200, true},
		"on a miss, without a peer": {config.RedirectMiss, nil, 0, false, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			cfg.Redirect, cfg.Peers, cfg.MaxClaims, cfg.Pools[0].Target = tc.when, tc.peers, tc.max, 0
			simtest.InBubble(t, cfg, func(b simtest.Sim) {
				body := simtest.ClaimBody("a/b")
				if tc.noRedirect {
					body = strings.Replace(body, "{", `{"no_redirect":true,`, 1)
				}
				a := b.Want(tc.status, "POST", "/v1/claim", simtest.RootToken, body)
				if tc.status != http.StatusOK {
					return
				}
				c := simtest.Decode[simtest.Claimed](b, a.Body)
				if tc.redirected != slices.Equal(c.Redirect, peers) || tc.redirected != (c.ID == "") {
					b.Errorf("answer %s", a.Body)
				}
			})
		})
	}
}

func TestClaimLatency(t *testing.T) {
	cfg := simtest.Config()
	cfg.Pools = append(cfg.Pools, config.Pool{Key: config.Key{Template: simtest.Image, Net: "none", Size: "large"}, NoGolden: true})
	cfg.Latency = config.RealLatency()
	large := `{"template":"` + simtest.Image + `","size":"large"}`
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		for _, tc := range []struct {
			body string
			how  config.Provision
		}{{simtest.ClaimBody("a/1"), config.WarmHit}, {simtest.ClaimBody("a/2"), config.WarmHit}, {simtest.ClaimBody("a/3"), config.Clone}, {large, config.ColdBoot}} {
			before := time.Now()
			c := b.Claim(tc.body)
			took, span := time.Since(before), config.RealLatency()[tc.how]
			if took < span.Min || took > span.Max {
				b.Errorf("%s took %v, want within %v", tc.how, took, span)
			}
			if e := b.History(history.Filter{Sandbox: c.ID, Type: history.EventClaimed}).Events[0]; e.Provision != tc.how {
				b.Errorf("claim %s by %s, want %s", c.ID, e.Provision, tc.how)
			}
		}
	})
}

func TestPoolKeysDefaultAsClaimsDo(t *testing.T) {
	cfg := simtest.Config()
	cfg.Pools = []config.Pool{{Key: config.Key{Template: simtest.Image}, Target: 1}}
	b := simtest.Start(t, cfg)
	b.Claim(`{"template":"` + simtest.Image + `","net":"none","size":"small"}`)
	b.Claim(simtest.ClaimBody("a/b"))
}

func TestSameSeedSameIDs(t *testing.T) {
	var first string
	for range 2 {
		simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
			c := b.Claim(simtest.ClaimBody("a/b"))
			if got := c.ID + c.Token; first == "" {
				first = got
			} else if got != first {
				b.Errorf("%s, then %s", first, got)
			}
		})
	}
}
