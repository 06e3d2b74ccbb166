// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// kernelSettings are the settings of the whole machine that kubelet changes
// when it starts.
var kernelSettings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

func settingsNote(p layout.Paths) string { return filepath.Join(p.Restore(), "sysctl.json") }

// NoteSettings notes the machine's kernel settings, before the first kubelet.
func NoteSettings(p layout.Paths) error {
	if _, err := os.Stat(settingsNote(p)); err == nil {
		return nil
	}
	values := map[string]string{}
	for _, name := range kernelSettings {
		content, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		values[name] = strings.TrimSpace(string(content))
	}
	return cluster.WriteJSON(settingsNote(p), values, 0o644)
}

// RestoreSettings gives the machine its kernel settings back.
func RestoreSettings(p layout.Paths) error {
	values := map[string]string{}
	if there, err := cluster.ReadJSON(settingsNote(p), &values); err != nil || !there {
		return err
	}
	for name, value := range values {
		file := filepath.Join("/proc/sys", name)
		now, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(now)) == value {
			continue
		}
		if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
			return err
		}
	}
	return os.Remove(settingsNote(p))
}
