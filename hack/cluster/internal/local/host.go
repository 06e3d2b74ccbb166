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

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/machine"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
)

const initTimeout = 20 * time.Second

// initName is the name of a host's first process.
func initName(a layout.Address) string { return a.Name + ".init" }

// ensureHost makes a host's namespaces and connects them, as far as they are
// not there.
func (c *Cluster) ensureHost(ctx context.Context, network netip.Prefix, a layout.Address, keep []string) (*process.Namespaces, error) {
	in, err := c.namespaces(a)
	if err != nil {
		return nil, err
	}
	if in == nil {
		if in, err = c.startInit(ctx, a, keep); err != nil {
			return nil, err
		}
		// What is left of the interface of a host that ended.
		if err := machine.RemoveLink(ctx, a.Link); err != nil {
			return nil, err
		}
	}
	return in, machine.Connect(ctx, network, a, in)
}

// startInit starts a host's init and waits until the host is set up.
func (c *Cluster) startInit(ctx context.Context, a layout.Address, keep []string) (*process.Namespaces, error) {
	h := c.paths.Host(a.Name)
	// As after a restart of a real machine, /run is empty.
	if err := os.RemoveAll(filepath.Join(h.Root(), "run")); err != nil {
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
	argv := []string{"/proc/self/exe", "host-init", "--name=" + a.Name, "--root=" + h.Root()}
	for _, folder := range keep {
		argv = append(argv, "--keep="+folder)
	}
	p, err := c.supervisor.Start(ctx, process.Component{
		Name: initName(a), Argv: argv, Log: c.paths.Log(initName(a)), ExtraFiles: []*os.File{w},
		Attr: &syscall.SysProcAttr{
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
		return nil, p.Failure(fmt.Errorf("set up host %s: %w", a.Name, err))
	}
	return &process.Namespaces{PID: p.PID}, nil
}

// startRuntime starts a host's containerd and gives it the cluster's images.
func (c *Cluster) startRuntime(ctx context.Context, a layout.Address, in *process.Namespaces, binary string) error {
	h := c.paths.Host(a.Name)
	plugins, err := machine.CniFolder()
	if err != nil {
		return err
	}
	layers, err := programs.Snapshotter(h.Root())
	if err != nil {
		return err
	}
	if err := programs.WriteContainerdConfig(h, a, plugins, layers); err != nil {
		return err
	}
	runtime := programs.Containerd(h, a, in, binary)
	runtime.Log = c.paths.Log(runtime.Name)
	p, err := c.supervisor.Start(ctx, runtime)
	if err != nil {
		return err
	}
	if err := c.supervisor.Wait(ctx, p, runtime.Healthy); err != nil {
		return err
	}
	return c.importImages(ctx, a.Name, in, layers)
}

// hostFolders makes the folders that a host has for itself.
func hostFolders(h layout.HostPaths) error {
	for _, folder := range layout.OwnFolders {
		if err := os.MkdirAll(filepath.Join(h.Root(), folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}
