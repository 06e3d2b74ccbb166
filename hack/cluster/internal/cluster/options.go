// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// MaxHosts is the largest number of hosts that a cluster can have.
const MaxHosts = 9

// Options say what cluster to start.
type Options struct {
	// Hosts is the number of hosts, from 1 to MaxHosts.
	Hosts int
	// CIDR is the network that joins the hosts.
	CIDR netip.Prefix
	// SandboxdBinary is the program that each host runs as its sandboxd; empty
	// for none.
	SandboxdBinary string
}

// Complete checks the options and makes their paths absolute.
func (o *Options) Complete() error {
	if o.Hosts < 1 || o.Hosts > MaxHosts {
		return fmt.Errorf("--hosts is %d; it must be from 1 to %d", o.Hosts, MaxHosts)
	}
	if !o.CIDR.IsValid() || !o.CIDR.Addr().Is4() || o.CIDR.Bits() > 27 || o.CIDR != o.CIDR.Masked() {
		return fmt.Errorf("--cidr is %q; it must be an IPv4 network of at most 27 bits, such as 10.99.0.0/24", o.CIDR)
	}
	if o.SandboxdBinary == "" {
		return nil
	}
	file, err := filepath.Abs(o.SandboxdBinary)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("--sandboxd-bin: %w", err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return errors.New("--sandboxd-bin: " + file + " is not an executable file")
	}
	o.SandboxdBinary = file
	return nil
}
