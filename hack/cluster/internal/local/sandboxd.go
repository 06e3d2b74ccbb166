// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"crypto/rand"
	"io"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

const (
	sandboxdPort        = 7777
	sandboxdControlPort = 7778
)

// installSandboxd copies the program into the state folder, so that the one
// that runs is not the one that is built next.
func installSandboxd(p paths, binary string) (string, error) {
	file := filepath.Join(p.bin(), "sandboxd")
	from, err := os.Open(binary)
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := os.MkdirAll(p.bin(), 0o755); err != nil {
		return "", err
	}
	to, err := os.CreateTemp(p.bin(), ".sandboxd-*")
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

// ensureToken writes the root token of a host's sandboxd. All hosts share one,
// as the DaemonSet's Pods share one Secret.
func ensureToken(p paths, h hostPaths) error {
	shared := p.config("sandboxd-token")
	token, err := os.ReadFile(shared)
	if os.IsNotExist(err) {
		token = []byte(rand.Text() + "\n")
		err = cluster.WriteFile(shared, token, 0o600)
	}
	if err != nil {
		return err
	}
	return cluster.WriteFile(h.sandboxdToken(), token, 0o600)
}

// sandboxd listens on the host's loopback, as the real one does, and takes
// control requests on the host's address, from outside.
func sandboxd(h hostPaths, a address, in *namespaces, binary string) component {
	control := netip.AddrPortFrom(a.ip, sandboxdControlPort).String()
	return component{
		name: a.name + ".sandboxd",
		in:   in,
		argv: []string{
			binary,
			"--listen", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), sandboxdPort).String(),
			"--control-listen", control,
			"--advertise-addr", netip.AddrPortFrom(a.ip, sandboxdPort).String(),
			"--token-file", h.sandboxdToken(),
			"--state-dir", filepath.Join(h.sandboxd(), "state"),
		},
		inputs:  []string{binary, h.sandboxdToken()},
		healthy: func(ctx context.Context) error { return dial(ctx, "tcp", control) },
	}
}
