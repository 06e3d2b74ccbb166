// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (b bench) poolInfo() info {
	b.Helper()
	return decodeAs[info](b, b.want(200, "GET", "/v1/info", rootToken, "").body)
}

func TestRefillIsBounded(t *testing.T) {
	cfg := testConfig()
	cfg.Pools[0].Target, cfg.RefillInterval = 4, 10*time.Second
	inBubble(t, cfg, func(b bench) {
		ctx, stop := context.WithCancel(b.Context())
		defer stop()
		go b.Server.Run(ctx)
		for range 3 {
			b.claim(claimBody("a/b"))
		}
		for _, want := range []struct{ warm, refilling int }{{1, 1}, {2, 1}, {3, 1}, {4, 0}, {4, 0}} {
			if got := b.poolInfo().Pools[0]; got.Warm != want.warm || got.Refilling != want.refilling || got.Target != 4 {
				b.Errorf("pool %+v, want %+v", got, want)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		if c := b.Truth(EventFilter{}).Counters; c.Made != 7 {
			b.Errorf("%d VMs made, want the first 4 and 3 more", c.Made)
		}
	})
}

func TestRunReaps(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		go b.Server.Run(b.Context())
		c := b.claim(claimBody("a/b"))
		time.Sleep(DefaultTTL + time.Second)
		synctest.Wait()
		b.wantHistory(c.ID, "made claimed answered reaped")
	})
}

func TestInfoCounts(t *testing.T) {
	cfg := testConfig()
	cfg.Peers = []string{"10.0.0.6:7777"}
	b := start(t, cfg)
	b.claim(claimBody("a/1"))
	b.do(b.Hibernate(b.claim(claimBody("a/2")).ID))
	b.do(b.Archive(b.claim(claimBody("a/3")).ID))
	i := b.poolInfo()
	if i.Claimed != 2 || i.Hibernated != 1 || i.Archived != 1 || len(i.Peers) != 1 {
		t.Errorf("info %+v", i)
	}
	if p := i.Pools[0]; p.Key != testKey || p.Warm != 0 || p.Target != 2 || !p.Golden {
		t.Errorf("pool %+v", p)
	}
}

func TestDrain(t *testing.T) {
	b := start(t, testConfig())
	c := b.claim(claimBody("a/1"))
	b.want(204, "POST", "/v1/drain", rootToken, "")
	b.want(429, "POST", "/v1/claim", rootToken, claimBody("a/2"))
	if made, err := b.Refill(); err != nil || made != 0 {
		t.Errorf("a draining daemon refilled %d, %v", made, err)
	}
	if vms := b.Truth(EventFilter{}).VMs; len(vms) != 1 || vms[0].ID != c.ID {
		t.Errorf("VMs %+v", vms)
	}
	if n := b.Truth(EventFilter{}).Counters.DestroyedBy[ByDrain]; n != 1 {
		t.Errorf("%d destroyed by the drain", n)
	}
	b.want(204, "DELETE", "/v1/drain", rootToken, "")
	if made, err := b.Refill(); err != nil || made != 1 {
		t.Errorf("refilled %d, %v", made, err)
	}
	b.claim(claimBody("a/3"))
	b.want(200, "GET", "/healthz", "", "")
}

func TestSetCapacity(t *testing.T) {
	b := start(t, testConfig())
	b.do(b.SetCapacity(Capacity{Pools: []PoolCapacity{{Key: Key{Template: image}, Warm: ptr(0), Target: ptr(0)}}}))
	if p := b.poolInfo().Pools[0]; p.Warm != 0 || p.Target != 0 {
		t.Errorf("pool %+v", p)
	}
	b.do(b.SetCapacity(Capacity{MaxClaims: ptr(-1), RetryAfter: ptr(Duration(1500 * time.Millisecond))}))
	if a := b.want(429, "POST", "/v1/claim", rootToken, claimBody("a/b")); a.header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	b.do(b.SetCapacity(Capacity{Redirect: ptr(RedirectFull), Peers: &[]string{"10.0.0.6:7777"}}))
	if c := b.claim(claimBody("a/b")); len(c.Redirect) != 1 || c.ID != "" {
		t.Errorf("claim %+v", c)
	}
	b.do(b.SetCapacity(Capacity{MaxClaims: ptr(0), Pools: []PoolCapacity{{Key: testKey, Warm: ptr(5), Golden: ptr(false)}}}))
	b.claim(claimBody("a/b"))
	now := b.Capacity()
	if *now.MaxClaims != 0 || *now.Redirect != RedirectFull || *now.Pools[0].Warm != 4 || *now.Pools[0].Golden {
		t.Errorf("capacity %+v", now)
	}
}

func TestSetCapacityRefuses(t *testing.T) {
	for name, c := range map[string]Capacity{
		"unknown redirect": {Redirect: ptr(Redirect("maybe"))},
		"unknown pool":     {Pools: []PoolCapacity{{Key: Key{Template: "other"}}}},
		"negative target":  {Pools: []PoolCapacity{{Key: testKey, Target: ptr(-1)}}},
		"negative warm":    {Pools: []PoolCapacity{{Key: testKey, Warm: ptr(-1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, testConfig())
			c.MaxClaims = ptr(-1)
			if b.SetCapacity(c) == nil {
				t.Error("accepted")
			}
			if *b.Capacity().MaxClaims != 0 {
				t.Error("a part of a refused change took effect")
			}
		})
	}
}

func TestParsePool(t *testing.T) {
	for in, want := range map[string]Pool{
		image:                                   {Key: testKey},
		image + ",net=none,size=small,target=8": {Key: testKey, Target: 8},
		"reg:5000/a/b:1.2, net=internet, size=large,golden=false": {Key: Key{"reg:5000/a/b:1.2", "internet", "large"}, NoGolden: true},
	} {
		got, err := ParsePool(in)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, err, want)
		}
		again, err := ParsePool(got.String())
		if err != nil || again.Key != got.Key {
			t.Errorf("%q: %+v, %v", got.Key, again, err)
		}
	}
	for in, part := range map[string]string{
		"":               "template is required",
		"a,size=huge":    "unknown size",
		"a,target=-1":    "negative",
		"a,target=many":  "target",
		"a,golden=maybe": "golden",
		"a,sise=small":   "unknown name",
		"a,small":        "not NAME=VALUE",
	} {
		if _, err := ParsePool(in); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want one with %q", in, err, part)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no root token":      func(c *Config) { c.RootToken = "" },
		"same tokens":        func(c *Config) { c.TenantToken = c.RootToken },
		"no pool":            func(c *Config) { c.Pools = nil },
		"pool twice":         func(c *Config) { c.Pools = append(c.Pools, c.Pools[0]) },
		"pool without a key": func(c *Config) { c.Pools = []Pool{{}} },
		"unknown redirect":   func(c *Config) { c.Redirect = "maybe" },
		"rebuild, no time":   func(c *Config) { c.Rebuild.Index = IndexEmpty },
		"rebuild, no index":  func(c *Config) { c.Rebuild.For = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			change(&cfg)
			if _, err := New(cfg); err == nil {
				t.Error("accepted")
			}
		})
	}
}
