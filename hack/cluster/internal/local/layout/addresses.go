// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package layout

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
)

const (
	// Prefix begins the name of every interface and cgroup of the cluster.
	Prefix      = "vksbx"
	BridgeName  = Prefix + "0"
	ServiceCIDR = "10.96.0.0/16"
	// FirstServiceIP is the address of the Service "kubernetes".
	FirstServiceIP = "10.96.0.1"
	ClusterPodCIDR = "10.244.0.0/16"
	APIServerPort  = 6443
	// firstHost is the number of the first host's address in the network.
	firstHost = 11
)

// nth returns the n-th address of an IPv4 network.
func nth(network netip.Prefix, n int) netip.Addr {
	base := network.Masked().Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+uint32(n))
	return netip.AddrFrom4(out)
}

// BridgeAddr is the control plane's address, on the bridge.
func BridgeAddr(network netip.Prefix) netip.Addr { return nth(network, 1) }

// Address says where a host is. Hosts are numbered from 1.
type Address struct {
	Name string
	Link string
	IP   netip.Addr
	Pods netip.Prefix
}

// HostAddress is the address of a host, which are numbered from 1.
func HostAddress(network netip.Prefix, number int) Address {
	return Address{
		Name: fmt.Sprintf("host-%d", number),
		Link: fmt.Sprintf("%s%d", Prefix, number),
		IP:   nth(network, firstHost+number-1),
		Pods: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(number), 0}), 24),
	}
}

// Conflict returns an error if one of the machine's addresses, given by
// interface, lies in a network that the cluster is about to use.
func Conflict(addrs map[string][]net.Addr, network netip.Prefix) error {
	for link, list := range addrs {
		for _, a := range list {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			for _, used := range []netip.Prefix{network, netip.MustParsePrefix(ClusterPodCIDR)} {
				if used.Overlaps(p.Masked()) {
					return fmt.Errorf("interface %s has %s, which overlaps the cluster's network %s; choose another one with --cidr", link, p, used)
				}
			}
		}
	}
	return nil
}
