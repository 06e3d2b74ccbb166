// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The reasons why an address has no IP address for a Pod. The texts are constant, so that
// events made from them aggregate.
const (
	problemEmpty       = "sandboxd named no address for the sandbox; the Pod has no IP address"
	problemNotIP       = "sandboxd named an address that is not an IP address; the Pod has no IP address"
	problemUnspecified = "sandboxd named an unspecified or multicast address, which reaches no sandbox; the Pod has no IP address"
	problemAmbiguous   = "sandboxd named an IPv6 address without brackets that may end in a port; the Pod has no IP address"
)

// AddressProblem returns why [Running] shows no IP address for sandboxd's address of a
// sandbox; empty if it shows one. The text is constant for one kind of cause. The claim
// is valid in either case.
func AddressProblem(address string) string {
	_, problem := parseAddress(address)
	return problem
}

// hostIP is the IP address in sandboxd's address of the sandbox, in the form that the API
// server accepts; empty if there is a problem with it. The API server refuses a whole
// status because of an invalid Pod IP.
func hostIP(address string) string {
	ip, problem := parseAddress(address)
	if problem != "" {
		return ""
	}
	return ip.String()
}

// parseAddress finds the IP address in a host:port or a host; a bare IPv6 address may
// have brackets.
func parseAddress(address string) (netip.Addr, string) {
	if address == "" {
		return netip.Addr{}, problemEmpty
	}
	ip, err := netip.ParseAddr(address)
	if err == nil && endsInPort(address) {
		return netip.Addr{}, problemAmbiguous
	}
	if err != nil {
		host := hostOf(address)
		if host == "" {
			return netip.Addr{}, problemUnspecified // ":7777" is every address of the host
		}
		if ip, err = netip.ParseAddr(host); err != nil {
			return netip.Addr{}, problemNotIP
		}
	}
	ip = ip.WithZone("").Unmap()
	if ip.IsUnspecified() || ip.IsMulticast() {
		return netip.Addr{}, problemUnspecified
	}
	return ip, ""
}

// hostOf is the part of an address that can be an IP address.
func hostOf(address string) string {
	if inside, ok := strings.CutPrefix(address, "["); ok {
		if inside, ok = strings.CutSuffix(inside, "]"); ok && strings.Contains(inside, ":") {
			return inside
		}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// endsInPort reports whether a bare IPv6 address can also be read as a shorter address
// and a port. Such a text must not become a Pod's IP address, because it can be another
// machine's.
func endsInPort(address string) bool {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return false
	}
	if _, err := strconv.ParseUint(address[i+1:], 10, 16); err != nil {
		return false
	}
	_, err := netip.ParseAddr(address[:i])
	return err == nil
}
