// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const initTimeout = 20 * time.Second

// initName is the name of a host's first process.
func initName(a address) string { return a.name + ".init" }

// ensureHost makes a host's namespaces and connects them, as far as they are
// not there.
func (c *Cluster) ensureHost(ctx context.Context, network netip.Prefix, a address, keep []string) (*namespaces, error) {
	in, err := c.namespaces(a)
	if err != nil {
		return nil, err
	}
	if in == nil {
		if in, err = c.startInit(ctx, a, keep); err != nil {
			return nil, err
		}
		// What is left of the interface of a host that ended.
		if err := removeLink(ctx, a.link); err != nil {
			return nil, err
		}
	}
	return in, connect(ctx, network, a, in)
}

// startInit starts a host's init and waits until the host is set up.
func (c *Cluster) startInit(ctx context.Context, a address, keep []string) (*namespaces, error) {
	h := c.paths.host(a.name)
	// As after a restart of a real machine, /run is empty.
	if err := os.RemoveAll(filepath.Join(h.root(), "run")); err != nil {
		return nil, err
	}
	if err := hostFolders(h); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	argv := []string{"/proc/self/exe", "host-init", "--name=" + a.name, "--root=" + h.root()}
	for _, folder := range keep {
		argv = append(argv, "--keep="+folder)
	}
	p, err := c.supervisor.start(ctx, component{
		name: initName(a), argv: argv, log: c.paths.log(initName(a)), extraFiles: []*os.File{w},
		attr: &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS,
		},
	})
	w.Close()
	if err != nil {
		return nil, err
	}
	if err := r.SetReadDeadline(time.Now().Add(initTimeout)); err != nil {
		return nil, err
	}
	said, err := io.ReadAll(r)
	if err == nil && len(said) == 0 {
		err = errors.New("it ended")
	}
	if err != nil {
		return nil, p.failure(fmt.Errorf("set up host %s: %w", a.name, err))
	}
	return &namespaces{p.PID}, nil
}

// startRuntime starts a host's containerd and gives it the cluster's images.
func (c *Cluster) startRuntime(ctx context.Context, a address, in *namespaces, binary string) error {
	h := c.paths.host(a.name)
	plugins, err := cniFolder()
	if err != nil {
		return err
	}
	layers, err := snapshotter(h.root())
	if err != nil {
		return err
	}
	if err := writeContainerdConfig(h, a, plugins, layers); err != nil {
		return err
	}
	runtime := containerd(h, a, in, binary)
	runtime.log = c.paths.log(runtime.name)
	p, err := c.supervisor.start(ctx, runtime)
	if err != nil {
		return err
	}
	if err := c.supervisor.wait(ctx, p, runtime.healthy); err != nil {
		return err
	}
	return c.importImages(ctx, a.name, in, layers)
}

// hostFolders makes the folders that a host has for itself.
func hostFolders(h hostPaths) error {
	for _, folder := range ownFolders {
		if err := os.MkdirAll(filepath.Join(h.root(), folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}
