// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestParsePool(t *testing.T) {
	for in, want := range map[string]config.Pool{
		simtest.Image: {Key: simtest.Key()},
		simtest.Image + ",net=none,size=small,target=8":           {Key: simtest.Key(), Target: 8},
		"reg:5000/a/b:1.2, net=internet, size=large,golden=false": {Key: config.Key{Template: "reg:5000/a/b:1.2", Net: "internet", Size: "large"}, NoGolden: true},
	} {
		got, err := config.ParsePool(in)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, err, want)
		}
		again, err := config.ParsePool(got.String())
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
		if _, err := config.ParsePool(in); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v, want one with %q", in, err, part)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"no root token":      func(c *config.Config) { c.RootToken = "" },
		"same tokens":        func(c *config.Config) { c.TenantToken = c.RootToken },
		"no pool":            func(c *config.Config) { c.Pools = nil },
		"pool twice":         func(c *config.Config) { c.Pools = append(c.Pools, c.Pools[0]) },
		"pool without a key": func(c *config.Config) { c.Pools = []config.Pool{{}} },
		"unknown redirect":   func(c *config.Config) { c.Redirect = "maybe" },
		"rebuild, no time":   func(c *config.Config) { c.Rebuild.Index = fault.IndexEmpty },
		"rebuild, no index":  func(c *config.Config) { c.Rebuild.For.Duration = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			change(&cfg)
			if _, err := sandboxdsim.New(cfg); err == nil {
				t.Error("accepted")
			}
		})
	}
}
