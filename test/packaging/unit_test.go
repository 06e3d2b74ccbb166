// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// mostExposure is the limit of systemd's exposure level for the unit, from 0 (fully
// restricted) to 10. The daemon needs the network and the host's file system.
const mostExposure = 1.5

// TestUnit verifies the installed unit with systemd. At start systemd ignores an unknown
// directive and only logs it.
func TestUnit(t *testing.T) {
	host := t.TempDir()
	install(t, host)
	// The units that it is ordered after.
	if output, err := exec.CommandContext(t.Context(), "cp", "-r", "/usr/lib/systemd/system/.", filepath.Join(host, "usr/lib/systemd/system")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--root="+host, "vk-sandbox.service").CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, output)
	}
	unit := filepath.Join(host, "usr/lib/systemd/system/vk-sandbox.service")
	report := run(t, nil, "systemd-analyze", "security", "--no-pager", "--offline=true", unit)
	found := regexp.MustCompile(`Overall exposure level for vk-sandbox.service: ([0-9.]+)`).FindStringSubmatch(report)
	if found == nil {
		t.Fatalf("systemd-analyze security gives no level:\n%s", report)
	}
	if level, err := strconv.ParseFloat(found[1], 64); err != nil || level > mostExposure {
		t.Errorf("exposure %s, want at most %v:\n%s", found[1], mostExposure, report)
	}
}
