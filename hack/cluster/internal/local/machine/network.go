// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package machine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

// machine are the machine's own namespaces.
var machine *process.Namespaces

// linkExists reports whether the machine has an interface of that name.
func linkExists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

// LinkOwner returns the state folder of the cluster that made the bridge, which
// is the bridge's alias, or "" if there is no bridge.
func LinkOwner() string {
	content, err := os.ReadFile(filepath.Join("/sys/class/net", layout.BridgeName, "ifalias"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// EnsureBridge makes the bridge with the control plane's address.
func EnsureBridge(ctx context.Context, network netip.Prefix, state string) error {
	if !linkExists(layout.BridgeName) {
		addrs, err := machineAddresses()
		if err != nil {
			return err
		}
		if err := layout.Conflict(addrs, network); err != nil {
			return err
		}
		if err := machine.Run(ctx, "ip", "link", "add", layout.BridgeName, "type", "bridge"); err != nil {
			return err
		}
	}
	own := netip.PrefixFrom(layout.BridgeAddr(network), network.Bits()).String()
	for _, args := range [][]string{
		// The kernel keeps at most 255 bytes of an alias.
		{"link", "set", layout.BridgeName, "alias", state},
		{"addr", "replace", own, "dev", layout.BridgeName},
		{"link", "set", layout.BridgeName, "up"},
	} {
		if err := machine.Run(ctx, "ip", args...); err != nil {
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

// Connect joins a host's network namespace to the bridge, as far as it is not.
func Connect(ctx context.Context, network netip.Prefix, a layout.Address, in *process.Namespaces) error {
	gateway := layout.BridgeAddr(network).String()
	if !linkExists(a.Link) {
		err := machine.Run(ctx, "ip", "link", "add", a.Link, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(in.PID))
		if err != nil {
			return fmt.Errorf("connect %s: %w", a.Name, err)
		}
	}
	for _, step := range []struct {
		in   *process.Namespaces
		args []string
	}{
		{machine, []string{"link", "set", a.Link, "master", layout.BridgeName, "up"}},
		{in, []string{"link", "set", "lo", "up"}},
		{in, []string{"addr", "replace", netip.PrefixFrom(a.IP, network.Bits()).String(), "dev", "eth0"}},
		{in, []string{"link", "set", "eth0", "up"}},
		{in, []string{"route", "replace", "default", "via", gateway}},
		// The control plane reaches Pods, as webhooks and aggregated APIs, by the host.
		{machine, []string{"route", "replace", a.Pods.String(), "via", a.IP.String(), "dev", layout.BridgeName}},
	} {
		if err := step.in.Run(ctx, "ip", step.args...); err != nil {
			return fmt.Errorf("connect %s: %w", a.Name, err)
		}
	}
	return nil
}

// RoutePods makes the Pods of every other host reachable from a host.
func RoutePods(ctx context.Context, in *process.Namespaces, own layout.Address, all []layout.Address) error {
	for _, a := range all {
		if a.Name == own.Name {
			continue
		}
		if err := in.Run(ctx, "ip", "route", "replace", a.Pods.String(), "via", a.IP.String()); err != nil {
			return fmt.Errorf("route from %s to the Pods of %s: %w", own.Name, a.Name, err)
		}
	}
	return nil
}

// RemoveLinks removes every interface of the cluster.
func RemoveLinks(ctx context.Context) error {
	names, err := Links()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := RemoveLink(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// RemoveLink removes an interface, if it is there. That of an ended host can
// vanish by itself at any moment.
func RemoveLink(ctx context.Context, name string) error {
	if !linkExists(name) {
		return nil
	}
	if err := machine.Run(ctx, "ip", "link", "del", name); err != nil && linkExists(name) {
		return err
	}
	return nil
}

// Links returns the names of the cluster's interfaces.
func Links() ([]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, link := range all {
		if number, ok := strings.CutPrefix(link.Name, layout.Prefix); ok {
			if _, err := strconv.Atoi(number); err == nil {
				names = append(names, link.Name)
			}
		}
	}
	return names, nil
}
