// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
)

const (
	// prefix begins the name of every interface and cgroup of the cluster.
	prefix      = "vksbx"
	bridgeName  = prefix + "0"
	serviceCIDR = "10.96.0.0/16"
	// firstServiceIP is the address of the Service "kubernetes".
	firstServiceIP = "10.96.0.1"
	clusterPodCIDR = "10.244.0.0/16"
	apiServerPort  = 6443
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

// bridgeAddr is the control plane's address, on the bridge.
func bridgeAddr(network netip.Prefix) netip.Addr { return nth(network, 1) }

// address says where a host is. Hosts are numbered from 1.
type address struct {
	name string
	link string
	ip   netip.Addr
	pods netip.Prefix
}

func hostAddress(network netip.Prefix, number int) address {
	return address{
		name: fmt.Sprintf("host-%d", number),
		link: fmt.Sprintf("%s%d", prefix, number),
		ip:   nth(network, firstHost+number-1),
		pods: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(number), 0}), 24),
	}
}

// conflict returns an error if one of the machine's addresses, given by
// interface, lies in a network that the cluster is about to use.
func conflict(addrs map[string][]net.Addr, network netip.Prefix) error {
	for link, list := range addrs {
		for _, a := range list {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			for _, used := range []netip.Prefix{network, netip.MustParsePrefix(clusterPodCIDR)} {
				if used.Overlaps(p.Masked()) {
					return fmt.Errorf("interface %s has %s, which overlaps the cluster's network %s; choose another one with --cidr", link, p, used)
				}
			}
		}
	}
	return nil
}
