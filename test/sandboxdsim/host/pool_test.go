// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestRefillIsBounded(t *testing.T) {
	cfg := simtest.Config()
	cfg.Pools[0].Target, cfg.RefillInterval = 4, 10*time.Second
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		ctx, stop := context.WithCancel(b.Context())
		defer stop()
		go b.Server.Run(ctx)
		for range 3 {
			b.Claim(simtest.ClaimBody("a/b"))
		}
		for _, want := range []struct{ warm, refilling int }{{1, 1}, {2, 1}, {3, 1}, {4, 0}, {4, 0}} {
			if got := b.Info().Pools[0]; got.Warm != want.warm || got.Refilling != want.refilling || got.Target != 4 {
				b.Errorf("pool %+v, want %+v", got, want)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		if c := b.History(history.Filter{}).Counters; c.Made != 7 {
			b.Errorf("%d VMs made, want the first 4 and 3 more", c.Made)
		}
	})
}

func TestRunReaps(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		go b.Server.Run(b.Context())
		c := b.Claim(simtest.ClaimBody("a/b"))
		time.Sleep(config.DefaultTTL + time.Second)
		synctest.Wait()
		b.WantHistory(c.ID, "made claimed answered reaped")
	})
}

func TestInfoCounts(t *testing.T) {
	cfg := simtest.Config()
	cfg.Peers = []string{"10.0.0.6:7777"}
	b := simtest.Start(t, cfg)
	b.Claim(simtest.ClaimBody("a/1"))
	b.Must(b.Hibernate(b.Claim(simtest.ClaimBody("a/2")).ID))
	b.Must(b.Archive(b.Claim(simtest.ClaimBody("a/3")).ID))
	i := b.Info()
	if i.Claimed != 2 || i.Hibernated != 1 || i.Archived != 1 || len(i.Peers) != 1 {
		t.Errorf("info %+v", i)
	}
	if p := i.Pools[0]; p.Key != simtest.Key() || p.Warm != 0 || p.Target != 2 || !p.Golden {
		t.Errorf("pool %+v", p)
	}
}

func TestDrain(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/1"))
	b.Want(204, "POST", "/v1/drain", simtest.RootToken, "")
	b.Want(429, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/2"))
	if made, err := b.Refill(); err != nil || made != 0 {
		t.Errorf("a draining daemon refilled %d, %v", made, err)
	}
	if vms := b.History(history.Filter{}).VMs; len(vms) != 1 || vms[0].ID != c.ID {
		t.Errorf("VMs %+v", vms)
	}
	if n := b.History(history.Filter{}).Counters.DestroyedBy[history.ByDrain]; n != 1 {
		t.Errorf("%d destroyed by the drain", n)
	}
	b.Want(204, "DELETE", "/v1/drain", simtest.RootToken, "")
	if made, err := b.Refill(); err != nil || made != 1 {
		t.Errorf("refilled %d, %v", made, err)
	}
	b.Claim(simtest.ClaimBody("a/3"))
	b.Want(200, "GET", "/healthz", "", "")
}

func TestSetCapacity(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.Must(b.SetCapacity(host.Capacity{Pools: []host.PoolCapacity{{Key: config.Key{Template: simtest.Image}, Warm: ptr.To(0), Target: ptr.To(0)}}}))
	if p := b.Info().Pools[0]; p.Warm != 0 || p.Target != 0 {
		t.Errorf("pool %+v", p)
	}
	b.Must(b.SetCapacity(host.Capacity{MaxClaims: ptr.To(-1), RetryAfter: ptr.To(metav1.Duration{Duration: 1500 * time.Millisecond})}))
	if a := b.Want(429, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b")); a.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	b.Must(b.SetCapacity(host.Capacity{Redirect: ptr.To(config.RedirectFull), Peers: &[]string{"10.0.0.6:7777"}}))
	if c := b.Claim(simtest.ClaimBody("a/b")); len(c.Redirect) != 1 || c.ID != "" {
		t.Errorf("claim %+v", c)
	}
	b.Must(b.SetCapacity(host.Capacity{MaxClaims: ptr.To(0), Pools: []host.PoolCapacity{{Key: simtest.Key(), Warm: ptr.To(5), Golden: ptr.To(false)}}}))
	b.Claim(simtest.ClaimBody("a/b"))
	now := b.Capacity()
	if *now.MaxClaims != 0 || *now.Redirect != config.RedirectFull || *now.Pools[0].Warm != 4 || *now.Pools[0].Golden {
		t.Errorf("capacity %+v", now)
	}
}

func TestSetCapacityRefuses(t *testing.T) {
	for name, c := range map[string]host.Capacity{
		"unknown redirect": {Redirect: ptr.To(config.Redirect("maybe"))},
		"unknown pool":     {Pools: []host.PoolCapacity{{Key: config.Key{Template: "other"}}}},
		"negative target":  {Pools: []host.PoolCapacity{{Key: simtest.Key(), Target: ptr.To(-1)}}},
		"negative warm":    {Pools: []host.PoolCapacity{{Key: simtest.Key(), Warm: ptr.To(-1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			c.MaxClaims = ptr.To(-1)
			if b.SetCapacity(c) == nil {
				t.Error("accepted")
			}
			if *b.Capacity().MaxClaims != 0 {
				t.Error("a part of a refused change took effect")
			}
		})
	}
}

// A claim that fails while its pool is left out leaves no VM behind.
func TestFailedClaimOfAReplacedPool(t *testing.T) {
	cfg := simtest.Config()
	cfg.Latency = config.Latency{config.WarmHit: {Min: time.Second, Max: time.Second}}
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Want(500, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
		}()
		synctest.Wait()
		b.Want(200, "PUT", "/v1/pools", simtest.RootToken, `{"pools":[]}`)
		empty := host.FillDisk(b.Host)
		defer empty()
		<-done
		if vms := b.History(history.Filter{}).VMs; len(vms) != 0 {
			b.Errorf("VMs %+v", vms)
		}
	})
}
