// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// fakeHierarchy makes a folder with the files of a cgroup.
func fakeHierarchy(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindCgroup(t *testing.T) {
	v2, v1, bad := t.TempDir(), t.TempDir(), t.TempDir()
	fakeHierarchy(t, v2, map[string]string{"cgroup.controllers": "pids"})
	for _, name := range []string{"pids", "memory"} {
		fakeHierarchy(t, filepath.Join(v1, name), map[string]string{"cgroup.procs": ""})
	}
	for name, test := range map[string]struct {
		mount, tracking string
		all             int
	}{
		"version 2": {v2, filepath.Join(v2, "vksbx"), 1},
		"version 1": {v1, filepath.Join(v1, "pids", "vksbx"), 2},
	} {
		g, err := FindCgroup(test.mount)
		if err != nil || g.tracking != test.tracking || len(g.all) != test.all {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	if _, err := FindCgroup(bad); err == nil {
		t.Error("no error without any cgroup")
	}
}

func TestCgroupProcesses(t *testing.T) {
	top := filepath.Join(t.TempDir(), "vksbx")
	g := Cgroup{tracking: top, all: []string{top}}
	if pids, err := g.Processes(); len(pids) > 0 || err != nil {
		t.Fatalf("without a cgroup: %v, %v", pids, err)
	}
	fakeHierarchy(t, filepath.Join(top, "daemons"), map[string]string{"cgroup.procs": "12\n13\n"})
	fakeHierarchy(t, filepath.Join(top, "host-1", "pod"), map[string]string{"cgroup.procs": "14\n"})
	pids, err := g.Processes()
	slices.Sort(pids)
	if err != nil || !slices.Equal(pids, []int{12, 13, 14}) {
		t.Errorf("processes() = %v, %v", pids, err)
	}
}
