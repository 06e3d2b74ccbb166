// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"io"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

const (
	SandboxdPort        = 7777
	SandboxdControlPort = 7778
)

// InstallSandboxd copies the program into the state folder, so that the one
// that runs is not the one that is built next.
func InstallSandboxd(p layout.Paths, binary string) (string, error) {
	file := filepath.Join(p.Bin(), "sandboxd")
	from, err := os.Open(binary)
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := os.MkdirAll(p.Bin(), 0o755); err != nil {
		return "", err
	}
	to, err := os.CreateTemp(p.Bin(), ".sandboxd-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(to.Name())
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		return "", err
	}
	if err := to.Chmod(0o755); err != nil {
		return "", err
	}
	return file, os.Rename(to.Name(), file)
}

// EnsureToken writes the root token of a host's sandboxd. All hosts share one,
// as the DaemonSet's Pods share one Secret.
func EnsureToken(p layout.Paths, h layout.HostPaths) error {
	shared := p.Config("sandboxd-token")
	if err := cluster.EnsureToken(shared); err != nil {
		return err
	}
	token, err := os.ReadFile(shared)
	if err != nil {
		return err
	}
	return cluster.WriteFile(h.SandboxdToken(), token, 0o600)
}

// Sandboxd listens on the host's loopback, as the real one does, and takes
// control requests on the host's address, from outside.
func Sandboxd(h layout.HostPaths, a layout.Address, in *process.Namespaces, binary string) process.Component {
	control := netip.AddrPortFrom(a.IP, SandboxdControlPort).String()
	return process.Component{
		Name: a.Name + ".sandboxd",
		In:   in,
		Argv: []string{
			binary,
			"--listen", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), SandboxdPort).String(),
			"--control-listen", control,
			"--advertise-addr", netip.AddrPortFrom(a.IP, SandboxdPort).String(),
			"--token-file", h.SandboxdToken(),
			"--state-dir", filepath.Join(h.Sandboxd(), "state"),
		},
		Inputs:  []string{binary, h.SandboxdToken()},
		Healthy: func(ctx context.Context) error { return dial(ctx, "tcp", control) },
	}
}
