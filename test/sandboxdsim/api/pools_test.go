// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// setPools replaces the pools and returns those that the answer reports.
func setPools(b simtest.Sim, body string) []host.PoolInfo {
	b.Helper()
	return simtest.Decode[host.Info](b, b.Want(http.StatusOK, "PUT", "/v1/pools", simtest.RootToken, body).Body).Pools
}

const (
	kept  = `{"template":"` + simtest.Image + `","warm":1}`
	added = `{"template":"added","net":"none","size":"large","warm":3,"warm_max":3,"idle_hibernate_seconds":60,"later":true}`
)

var addedKey = config.Key{Template: "added", Net: "none", Size: "large"}

func TestPoolsAreReplaced(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	want := []host.PoolInfo{
		{Key: simtest.Key(), Warm: 2, Target: 1, Golden: true},
		{Key: addedKey, Target: 3, Refilling: 1, Golden: true},
	}
	if diff := cmp.Diff(want, setPools(b, `{"pools":[`+kept+`,`+added+`]}`)); diff != "" {
		t.Errorf("pools (-want +got)\n%s", diff)
	}
	b.Claim(`{"template":"added","size":"large"}`)
	if made, err := b.Refill(); err != nil || made != 1 {
		t.Errorf("%d VMs made, %v; want one of the new pool", made, err)
	}

	c := b.Claim(simtest.ClaimBody("a/b"))
	if left := setPools(b, `{"pools":[`+added+`]}`); len(left) != 1 || left[0].Key != addedKey || left[0].Warm != 1 {
		t.Errorf("pools %+v", left)
	}
	b.Want(400, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/c"))
	if n := b.History(history.Filter{}).Counters.DestroyedBy[history.ByRoot]; n != 1 {
		t.Errorf("%d VMs destroyed, want the warm one of the pool that was left out", n)
	}
	b.WantHistory(c.ID, "made claimed answered")

	if none := setPools(b, `{"pools":[]}`); len(none) != 0 {
		t.Errorf("pools %+v", none)
	}
}

// A pool that stays keeps what only the configuration can say.
func TestReplacedPoolKeepsItsGoldenSnapshot(t *testing.T) {
	cfg := simtest.Config()
	cfg.Pools[0].NoGolden = true
	b := simtest.Start(t, cfg)
	if p := setPools(b, `{"pools":[`+kept+`]}`); p[0].Golden {
		t.Errorf("pools %+v", p)
	}
}

func TestPoolsOutliveTheProcess(t *testing.T) {
	for name, set := range map[string]string{"some": added, "none": ""} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			cfg.StateDir = t.TempDir()
			b := simtest.Start(t, cfg)
			want := setPools(b, `{"pools":[`+set+`]}`)
			b.Must(b.Close())
			b = simtest.Start(t, cfg)
			if diff := cmp.Diff(want, b.Info().Pools); diff != "" {
				t.Errorf("pools (-before +after the restart)\n%s", diff)
			}
		})
	}
}

func TestEgressPool(t *testing.T) {
	const egress = `{"pools":[{"template":"` + simtest.Image + `","net":"internet"}]}`
	cfg := simtest.Config()
	cfg.Pools = append(cfg.Pools, config.Pool{Key: config.Key{Template: "other", Net: "internet"}})
	simtest.Start(t, cfg).Want(200, "PUT", "/v1/pools", simtest.RootToken, egress)
	simtest.Start(t, simtest.Config()).Want(409, "PUT", "/v1/pools", simtest.RootToken, egress)
}

func TestPoolsRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no body":                ``,
		"null":                   `{"pools":null}`,
		"not JSON":               `{`,
		"no template":            `{"pools":[{"warm":1}]}`,
		"unknown size":           `{"pools":[{"template":"a","size":"huge"}]}`,
		"warm is negative":       `{"pools":[{"template":"a","warm":-1}]}`,
		"idle time is negative":  `{"pools":[{"template":"a","idle_hibernate_seconds":-1}]}`,
		"warm_max under warm":    `{"pools":[{"template":"a","warm":2,"warm_max":1}]}`,
		"duplicate":              `{"pools":[` + kept + `,{"template":"` + simtest.Image + `","net":"none","size":"small"}]}`,
		"egress is configured":   `{"pools":[{"template":"a","egress":{}}]}`,
		"warmup is configured":   `{"pools":[{"template":"a","warmup":"true"}]}`,
		"one of them is refused": `{"pools":[` + added + `,{"template":"a","warm":-1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			before := b.Info().Pools
			b.Want(400, "PUT", "/v1/pools", simtest.RootToken, body)
			if diff := cmp.Diff(before, b.Info().Pools); diff != "" {
				t.Errorf("pools (-before +after)\n%s", diff)
			}
		})
	}
}
