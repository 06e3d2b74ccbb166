// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package machine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// chains are the chains that traffic of the bridge passes, with the rule that
// lets it through.
var chains = []struct {
	name string
	rule []string
}{
	{"INPUT", []string{"-i", layout.BridgeName, "-j", "ACCEPT"}},
	{"FORWARD", []string{"-i", layout.BridgeName, "-o", layout.BridgeName, "-j", "ACCEPT"}},
}

// OpenFirewall lets the hosts' traffic through, where a chain could drop it, as
// Docker's policy for FORWARD does. A chain that accepts everything is not
// touched. It notes each rule before it is made, for closeFirewall.
func OpenFirewall(ctx context.Context, p layout.Paths) error {
	for _, c := range chains {
		rules, err := machine.Output(ctx, "iptables", "-w", "-S", c.name)
		if err != nil {
			return err
		}
		own := "-A " + c.name + " " + strings.Join(c.rule, " ")
		if strings.TrimSpace(rules) == "-P "+c.name+" ACCEPT" || strings.Contains(rules, own) {
			continue
		}
		if err := cluster.WriteFile(firewallNote(p, c.name), nil, 0o644); err != nil {
			return err
		}
		if err := machine.Run(ctx, "iptables", append([]string{"-w", "-I", c.name, "1"}, c.rule...)...); err != nil {
			return err
		}
	}
	return nil
}

// CloseFirewall takes back what openFirewall did.
func CloseFirewall(ctx context.Context, p layout.Paths) error {
	for _, c := range chains {
		note := firewallNote(p, c.name)
		if _, err := os.Stat(note); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		// Once for every copy of the rule; -C fails when there is none left.
		for machine.Run(ctx, "iptables", append([]string{"-w", "-C", c.name}, c.rule...)...) == nil {
			if err := machine.Run(ctx, "iptables", append([]string{"-w", "-D", c.name}, c.rule...)...); err != nil {
				return err
			}
		}
		if err := os.Remove(note); err != nil {
			return err
		}
	}
	return nil
}

func firewallNote(p layout.Paths, chain string) string {
	return filepath.Join(p.Restore(), "firewall-"+chain)
}
