// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// machine are the machine's own namespaces.
var machine *namespaces

// linkExists reports whether the machine has an interface of that name.
func linkExists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

// linkOwner returns the state folder of the cluster that made the bridge, which
// is the bridge's alias, or "" if there is no bridge.
func linkOwner() string {
	content, err := os.ReadFile(filepath.Join("/sys/class/net", bridgeName, "ifalias"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// ensureBridge makes the bridge with the control plane's address.
func ensureBridge(ctx context.Context, network netip.Prefix, state string) error {
	if !linkExists(bridgeName) {
		addrs, err := machineAddresses()
		if err != nil {
			return err
		}
		if err := conflict(addrs, network); err != nil {
			return err
		}
		if err := machine.run(ctx, "ip", "link", "add", bridgeName, "type", "bridge"); err != nil {
			return err
		}
	}
	own := netip.PrefixFrom(bridgeAddr(network), network.Bits()).String()
	for _, args := range [][]string{
		// The kernel keeps at most 255 bytes of an alias.
		{"link", "set", bridgeName, "alias", state},
		{"addr", "replace", own, "dev", bridgeName},
		{"link", "set", bridgeName, "up"},
	} {
		if err := machine.run(ctx, "ip", args...); err != nil {
			return err
		}
	}
	return nil
}

func machineAddresses() (map[string][]net.Addr, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	addrs := map[string][]net.Addr{}
	for _, link := range links {
		if addrs[link.Name], err = link.Addrs(); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// connect joins a host's network namespace to the bridge, as far as it is not.
func connect(ctx context.Context, network netip.Prefix, a address, in *namespaces) error {
	gateway := bridgeAddr(network).String()
	if !linkExists(a.link) {
		err := machine.run(ctx, "ip", "link", "add", a.link, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(in.pid))
		if err != nil {
			return fmt.Errorf("connect %s: %w", a.name, err)
		}
	}
	for _, step := range []struct {
		in   *namespaces
		args []string
	}{
		{machine, []string{"link", "set", a.link, "master", bridgeName, "up"}},
		{in, []string{"link", "set", "lo", "up"}},
		{in, []string{"addr", "replace", netip.PrefixFrom(a.ip, network.Bits()).String(), "dev", "eth0"}},
		{in, []string{"link", "set", "eth0", "up"}},
		{in, []string{"route", "replace", "default", "via", gateway}},
		// The control plane reaches Pods, as webhooks and aggregated APIs, by the host.
		{machine, []string{"route", "replace", a.pods.String(), "via", a.ip.String(), "dev", bridgeName}},
	} {
		if err := step.in.run(ctx, "ip", step.args...); err != nil {
			return fmt.Errorf("connect %s: %w", a.name, err)
		}
	}
	return nil
}

// routePods makes the Pods of every other host reachable from a host.
func routePods(ctx context.Context, in *namespaces, own address, all []address) error {
	for _, a := range all {
		if a.name == own.name {
			continue
		}
		if err := in.run(ctx, "ip", "route", "replace", a.pods.String(), "via", a.ip.String()); err != nil {
			return fmt.Errorf("route from %s to the Pods of %s: %w", own.name, a.name, err)
		}
	}
	return nil
}

// removeLinks removes every interface of the cluster.
func removeLinks(ctx context.Context) error {
	names, err := links()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeLink(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// removeLink removes an interface, if it is there. That of an ended host can
// vanish by itself at any moment.
func removeLink(ctx context.Context, name string) error {
	if !linkExists(name) {
		return nil
	}
	if err := machine.run(ctx, "ip", "link", "del", name); err != nil && linkExists(name) {
		return err
	}
	return nil
}

// links returns the names of the cluster's interfaces.
func links() ([]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, link := range all {
		if number, ok := strings.CutPrefix(link.Name, prefix); ok {
			if _, err := strconv.Atoi(number); err == nil {
				names = append(names, link.Name)
			}
		}
	}
	return names, nil
}
