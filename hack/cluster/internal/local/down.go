// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/machine"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// Down ends the cluster and takes back all that Up did to the machine. It works
// on what a failed Up left as well, and does nothing where there is nothing.
// The logs stay.
func (c *Cluster) Down(ctx context.Context) error {
	unlock, err := cluster.LockFolder(ctx, c.paths.State, c.progress)
	if err != nil {
		return err
	}
	defer unlock()
	if other := c.foreign(); other != "" {
		if _, err := os.Stat(other); err == nil {
			return fmt.Errorf("the cluster that runs on this machine is not this one: its state is in %s; end it with VK_SANDBOX_CLUSTER_DIR=%s", other, other)
		}
		c.progress.Printf("the cluster's folder %s is gone; clearing away the cluster all the same", other)
	}
	steps := []progress.Step{
		{Title: "end processes", Do: c.endProcesses},
		{Title: "remove interfaces, rules and cgroups", Do: c.restoreMachine},
		{Title: "remove state", Do: c.removeState},
	}
	c.progress.Expect(len(steps))
	return c.progress.Steps(ctx, steps...)
}

// endProcesses ends the recorded processes, those first that would start others
// again, and then what else the cgroup has: Pods, and what has no record.
func (c *Cluster) endProcesses(ctx context.Context) error {
	list, err := c.supervisor.Records.All()
	if err != nil {
		return err
	}
	waves := make([][]*process.Process, 4)
	for _, p := range list {
		waves[wave(p.Name)] = append(waves[wave(p.Name)], p)
	}
	for i, w := range waves {
		grace := process.StopGrace
		if i == len(waves)-1 {
			// A host's init has nothing to do at its end: it takes all of the host along.
			grace = 0
		}
		if err := process.Stop(ctx, w, grace); err != nil {
			return err
		}
	}
	swept, err := c.sweep(ctx)
	if err != nil {
		return err
	}
	return collected(ctx, append(list, swept...))
}

// collected waits, for a while, until the machine's init has collected ended
// processes.
func collected(ctx context.Context, list []*process.Process) error {
	deadline := time.Now().Add(6 * time.Second)
	for _, p := range list {
		for p.There() && time.Now().Before(deadline) {
			if err := process.Sleep(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// wave says when a process is to end.
func wave(name string) int {
	_, program, onHost := strings.Cut(name, ".")
	switch {
	case onHost && program == "init":
		return 3
	case name == "etcd":
		return 2
	case name == "kube-apiserver" || program == "containerd":
		return 1
	default:
		return 0
	}
}

// sweep ends every process in the cluster's cgroup, and returns them.
func (c *Cluster) sweep(ctx context.Context) ([]*process.Process, error) {
	var swept []*process.Process
	deadline := time.Now().Add(10 * time.Second)
	for {
		pids, err := c.supervisor.Cgroup.Processes()
		if err != nil || len(pids) == 0 {
			return swept, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("processes %v of the cluster do not end, not even by SIGKILL", pids)
		}
		for _, pid := range pids {
			p := &process.Process{PID: pid}
			// One that has gone since it was listed is fine.
			if err := p.Identify(); err != nil {
				continue
			}
			swept = append(swept, p)
			if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return nil, err
			}
		}
		if err := process.Sleep(ctx); err != nil {
			return nil, err
		}
	}
}

func (c *Cluster) restoreMachine(ctx context.Context) error {
	return errors.Join(
		machine.RemoveLinks(ctx),
		machine.CloseFirewall(ctx, c.paths),
		machine.RestoreSettings(c.paths),
		c.supervisor.Cgroup.Remove(),
	)
}

// removeState deletes the state and makes sure that nothing is left.
func (c *Cluster) removeState(context.Context) error {
	if err := cluster.Remove(c.paths.State); err != nil {
		return err
	}
	for _, path := range c.paths.Removable() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	pids, err := c.supervisor.Cgroup.Processes()
	if err != nil {
		return err
	}
	names, err := machine.Links()
	if err != nil {
		return err
	}
	if len(pids) > 0 || len(names) > 0 {
		return fmt.Errorf("left behind: processes %v, interfaces %v", pids, names)
	}
	return nil
}
