// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"strings"
	"testing"
)

func TestNewPublisherRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		says   []string
	}{
		{"no node name", func(c *Config) { c.NodeName = "" }, []string{`node name ""`}},
		{"a node name that names no object", func(c *Config) { c.NodeName = "Host_1" }, []string{`node name "Host_1"`}},
		{"no interval", func(c *Config) { c.Interval = 0 }, []string{"publish interval 0s"}},
		{"a negative interval", func(c *Config) { c.Interval = -interval }, []string{"publish interval -30s"}},
		{"no address", func(c *Config) { c.AdvertiseAddr = "" }, []string{`address ""`}},
		{"an address without port", func(c *Config) { c.AdvertiseAddr = "10.0.0.5" }, []string{`"10.0.0.5"`, "host:port"}},
		{"an address without host", func(c *Config) { c.AdvertiseAddr = ":7777" }, []string{"no host"}},
		{"a URL for an address", func(c *Config) { c.AdvertiseAddr = "http://10.0.0.5:7777" }, []string{"host:port"}},
		{"a port beyond the last", func(c *Config) { c.AdvertiseAddr = "10.0.0.5:65536" }, []string{`port "65536"`}},
		{"port zero", func(c *Config) { c.AdvertiseAddr = "10.0.0.5:0" }, []string{`port "0"`}},
		{"no sandboxd", func(c *Config) { c.Sandboxd = nil }, []string{"no sandboxd given"}},
		{"no claims", func(c *Config) { c.Claims = nil }, []string{"no claims given"}},
		{"no client", func(c *Config) { c.Client = nil }, []string{"no client given"}},
		{"no node", func(c *Config) { c.Node = nil }, []string{"no node given"}},
		{
			"several things, all of them named",
			func(c *Config) { c.Interval, c.AdvertiseAddr = 0, "" },
			[]string{"publish interval", "advertised sandboxd address"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := newHarness().config
			tt.change(&config)
			_, err := NewPublisher(config)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestNewPublisherAccepts(t *testing.T) {
	for _, addr := range []string{"10.0.0.5:7777", "[fd00::5]:7777", "host-1.example:7777", "127.0.0.1:7777"} {
		config := newHarness().config
		config.AdvertiseAddr = addr
		if _, err := NewPublisher(config); err != nil {
			t.Errorf("address %s: %v", addr, err)
		}
	}
}

func TestOnlyLocal(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:7777": true, "127.8.0.1:7777": true, "[::1]:7777": true, "localhost:7777": true, "0.0.0.0:7777": true,
		"10.0.0.5:7777": false, "[fd00::5]:7777": false, "host-1.example:7777": false,
	} {
		if got := onlyLocal(addr); got != want {
			t.Errorf("onlyLocal(%s) = %t", addr, got)
		}
	}
}
