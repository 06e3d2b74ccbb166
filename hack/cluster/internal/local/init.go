// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// InitOptions are what a host's init is told.
type InitOptions struct {
	// Name is the host's name.
	Name string
	// Root holds the host's own folders.
	Root string
	// Keep are folders that must stay visible where one of the host's own
	// folders would hide them.
	Keep []string
}

// Init is the first process of a host. It is started in new namespaces, sets
// them up, closes ready, and collects orphans until it is killed; it returns
// only if the set-up fails.
func Init(ctx context.Context, o InitOptions, ready *os.File) error {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGCHLD)
	if err := setUpHost(o); err != nil {
		return fmt.Errorf("set up host %s: %w", o.Name, err)
	}
	if _, err := ready.WriteString("ready"); err != nil {
		return fmt.Errorf("report that host %s is set up: %w", o.Name, err)
	}
	ready.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			reap()
		}
	}
}

func setUpHost(o InitOptions) error {
	if err := unix.Sethostname([]byte(o.Name)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	// First: no mount below may reach the machine's own namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	// All are opened before the first is covered: one may lie below another.
	var binds []mountpoint
	for _, folder := range layout.OwnFolders {
		binds = append(binds, mountpoint{from: filepath.Join(o.Root, folder), to: folder})
	}
	for _, folder := range o.Keep {
		if hidden(folder) {
			binds = append(binds, mountpoint{from: folder, to: folder})
		}
	}
	if err := bindAll(binds); err != nil {
		return err
	}
	// Last: a Pod's bidirectional mount must reach the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share mounts with Pods: %w", err)
	}
	return nil
}

// hidden reports whether one of a host's own folders would hide a folder.
func hidden(folder string) bool {
	for _, own := range layout.OwnFolders {
		if folder == own || strings.HasPrefix(folder, own+"/") {
			return true
		}
	}
	return false
}

// mountpoint is a folder that is to appear at another place.
type mountpoint struct{ from, to string }

func bindAll(list []mountpoint) error {
	for i := range list {
		f, err := os.Open(list[i].from)
		if err != nil {
			return err
		}
		defer f.Close()
		list[i].from = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	}
	for _, m := range list {
		if err := os.MkdirAll(m.to, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.from, m.to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind a folder to %s: %w", m.to, err)
		}
	}
	return nil
}

// reap collects every child that has ended. One SIGCHLD can stand for several.
func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
