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

// mostExposure bounds what systemd makes of the unit's hardening, from 0 (nothing
// is open) to 10. The network and the host's file system have to be.
const mostExposure = 1.5

// TestUnit has systemd itself read the unit as it is installed: a directive that it
// does not know would be ignored at start with no more than a line in the journal.
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
