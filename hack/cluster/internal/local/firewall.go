// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// chains are the chains that traffic of the bridge passes, with the rule that
// lets it through.
var chains = []struct {
	name string
	rule []string
}{
	{"INPUT", []string{"-i", bridgeName, "-j", "ACCEPT"}},
	{"FORWARD", []string{"-i", bridgeName, "-o", bridgeName, "-j", "ACCEPT"}},
}

// openFirewall lets the hosts' traffic through, where a chain could drop it, as
// Docker's policy for FORWARD does. A chain that accepts everything is not
// touched. It notes each rule before it is made, for closeFirewall.
func openFirewall(ctx context.Context, p paths) error {
	for _, c := range chains {
		rules, err := machine.output(ctx, "iptables", "-w", "-S", c.name)
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
		if err := machine.run(ctx, "iptables", append([]string{"-w", "-I", c.name, "1"}, c.rule...)...); err != nil {
			return err
		}
	}
	return nil
}

// closeFirewall takes back what openFirewall did.
func closeFirewall(ctx context.Context, p paths) error {
	for _, c := range chains {
		note := firewallNote(p, c.name)
		if _, err := os.Stat(note); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		// Once for every copy of the rule; -C fails when there is none left.
		for machine.run(ctx, "iptables", append([]string{"-w", "-C", c.name}, c.rule...)...) == nil {
			if err := machine.run(ctx, "iptables", append([]string{"-w", "-D", c.name}, c.rule...)...); err != nil {
				return err
			}
		}
		if err := os.Remove(note); err != nil {
			return err
		}
	}
	return nil
}

func firewallNote(p paths, chain string) string {
	return filepath.Join(p.restore(), "firewall-"+chain)
}
