// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package layout

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestHostAddress(t *testing.T) {
	for _, test := range []struct {
		network              string
		number               int
		name, link, ip, pods string
	}{
		{"10.99.0.0/24", 1, "host-1", "vksbx1", "10.99.0.11", "10.244.1.0/24"},
		{"10.99.0.0/24", 3, "host-3", "vksbx3", "10.99.0.13", "10.244.3.0/24"},
		{"192.168.7.224/27", 9, "host-9", "vksbx9", "192.168.7.243", "10.244.9.0/24"},
		{"10.1.255.240/20", 1, "host-1", "vksbx1", "10.1.240.11", "10.244.1.0/24"},
	} {
		a := HostAddress(netip.MustParsePrefix(test.network), test.number)
		got := [...]string{a.Name, a.Link, a.IP.String(), a.Pods.String()}
		if want := [...]string{test.name, test.link, test.ip, test.pods}; got != want {
			t.Errorf("hostAddress(%s, %d) = %v, want %v", test.network, test.number, got, want)
		}
	}
}

func TestBridgeAddr(t *testing.T) {
	if got := BridgeAddr(netip.MustParsePrefix("10.99.0.0/24")).String(); got != "10.99.0.1" {
		t.Errorf("the bridge's address is %s", got)
	}
}

func TestConflict(t *testing.T) {
	network := netip.MustParsePrefix("10.99.0.0/24")
	for name, test := range map[string]struct {
		address  string
		conflict bool
	}{
		"elsewhere":                {"192.168.1.5/24", false},
		"IPv6":                     {"fe80::1/64", false},
		"neighbour":                {"10.99.1.5/24", false},
		"in the hosts' network":    {"10.99.0.200/32", true},
		"around it":                {"10.5.0.1/8", true},
		"in the network of Pods":   {"10.244.9.1/24", true},
		"not an address of any IP": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := stringAddr(test.address)
			err := Conflict(map[string][]net.Addr{"wlan0": {addr}}, network)
			if (err != nil) != test.conflict {
				t.Fatalf("conflict with %s: %v", test.address, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "wlan0") || !strings.Contains(err.Error(), "--cidr")) {
				t.Errorf("the error does not say where, or what to do: %v", err)
			}
		})
	}
}

type stringAddr string

func (a stringAddr) Network() string { return "ip" }
func (a stringAddr) String() string  { return string(a) }
