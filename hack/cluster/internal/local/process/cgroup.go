// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// Cgroup is the control group that holds every process of the cluster: the
// daemons in one child, and the Pods of each host in another. The zero value is
// not usable; see findCgroup.
type Cgroup struct {
	// tracking is the folder in the hierarchy that is asked for processes.
	tracking string
	// all are the folders in every hierarchy.
	all []string
}

// FindCgroup says where the cluster's control group is or would be.
func FindCgroup(mount string) (Cgroup, error) {
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		folder := filepath.Join(mount, layout.Prefix)
		return Cgroup{tracking: folder, all: []string{folder}}, nil
	}
	// Version 1: a hierarchy per controller, where runc makes a group in each.
	hierarchies, err := filepath.Glob(filepath.Join(mount, "*", "cgroup.procs"))
	if err != nil {
		return Cgroup{}, err
	}
	var g Cgroup
	for _, file := range hierarchies {
		folder := filepath.Join(filepath.Dir(file), layout.Prefix)
		g.all = append(g.all, folder)
		if filepath.Base(filepath.Dir(file)) == "pids" {
			g.tracking = folder
		}
	}
	if g.tracking == "" {
		return Cgroup{}, fmt.Errorf("%s has no cgroup hierarchy with the pids controller", mount)
	}
	return g, nil
}

// Pods is the control group of a host's Pods, as kubelet names it.
func (Cgroup) Pods(host string) string { return "/" + layout.Prefix + "/" + host }

// EnsurePods makes the control group of a host's Pods in every hierarchy, as
// kubelet expects of its root.
func (g Cgroup) EnsurePods(host string) error {
	for _, top := range g.all {
		for _, folder := range []string{top, filepath.Join(top, host)} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			if err := inheritCPUs(folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// inheritCPUs gives a new group of version 1 the processors and memory nodes of
// its parent; without any, no process can enter it.
func inheritCPUs(folder string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		file := filepath.Join(folder, name)
		now, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(now)) != "" {
			continue
		}
		parent, err := os.ReadFile(filepath.Join(filepath.Dir(folder), name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, parent, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// add puts a process into the control group.
func (g Cgroup) add(pid int) error {
	folder := filepath.Join(g.tracking, "daemons")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
}

// Processes returns the processes in the control group and below it.
func (g Cgroup) Processes() ([]int, error) {
	var pids []int
	err := filepath.WalkDir(g.tracking, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for field := range strings.FieldsSeq(string(content)) {
			pid, convErr := strconv.Atoi(field)
			if convErr != nil {
				return convErr
			}
			pids = append(pids, pid)
		}
		return err
	})
	return pids, err
}

// Remove removes the control group from every hierarchy. The kernel can take a
// moment to see that it is empty.
func (g Cgroup) Remove() error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := g.tryRemove()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pollInterval)
	}
}

func (g Cgroup) tryRemove() error {
	var errs []error
	for _, top := range g.all {
		var folders []string
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.IsDir() {
				folders = append(folders, path)
			}
			return err
		})
		errs = append(errs, err)
		for _, folder := range slices.Backward(folders) {
			if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove cgroup: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}
