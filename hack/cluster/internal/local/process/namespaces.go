// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Namespaces are those of one process; nil are the machine's own.
type Namespaces struct{ PID int }

// start starts cmd in the namespaces. It does what nsenter does, but the
// started process is the caller's own child with the PID that cmd reports.
func (n *Namespaces) start(cmd *exec.Cmd) error {
	if n == nil {
		return cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		// Never unlocked: the thread is changed for good, and ends with the goroutine.
		runtime.LockOSThread()
		started <- n.startHere(cmd)
	}()
	return <-started
}

// startHere moves the current thread into the namespaces and starts cmd.
func (n *Namespaces) startHere(cmd *exec.Cmd) error {
	kinds := []struct {
		name string
		flag int
	}{{"net", unix.CLONE_NEWNET}, {"uts", unix.CLONE_NEWUTS}, {"pid", unix.CLONE_NEWPID}, {"mnt", unix.CLONE_NEWNS}}
	// All are opened before the first is entered: the mount namespace has another /proc.
	fds := make([]int, len(kinds))
	for i, kind := range kinds {
		fd, err := unix.Open(filepath.Join("/proc", strconv.Itoa(n.PID), "ns", kind.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open the %s namespace of process %d: %w", kind.name, n.PID, err)
		}
		defer unix.Close(fd)
		fds[i] = fd
	}
	// A thread that shares its root and working folder may not change its mounts.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare the thread's root: %w", err)
	}
	for i, kind := range kinds {
		if err := unix.Setns(fds[i], kind.flag); err != nil {
			return fmt.Errorf("enter the %s namespace of process %d: %w", kind.name, n.PID, err)
		}
	}
	return cmd.Start()
}

// Run runs a program in the namespaces to its end. The error holds what it said.
func (n *Namespaces) Run(ctx context.Context, name string, args ...string) error {
	_, err := n.Output(ctx, name, args...)
	return err
}

// Output runs a program in the namespaces to its end, and returns what it printed.
func (n *Namespaces) Output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := n.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Interactive runs a program in the namespaces with the caller's standard
// streams, and returns its exit code.
func (n *Namespaces) Interactive(ctx context.Context, name string, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := n.start(cmd); err != nil {
		return 0, err
	}
	return cluster.ExitCode(cmd.Wait())
}
