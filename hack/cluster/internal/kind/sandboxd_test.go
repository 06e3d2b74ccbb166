// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// TestSandboxdIsReplacedWhenItHasChanged: what runs already is left alone.
func TestSandboxdIsReplacedWhenItHasChanged(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	up := func(binary string) (copied int, host cluster.Host) {
		t.Helper()
		m.ran = nil
		if err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: binary}); err != nil {
			t.Fatal(err)
		}
		info, err := cluster.Load(c.State)
		if err != nil {
			t.Fatal(err)
		}
		return m.count("docker cp"), info.Hosts[0]
	}
	const token = 2 // one for each host
	if copied, host := up(""); copied != 0 || host.SandboxdAddr != "" {
		t.Errorf("without a program: %d files copied, %+v", copied, host)
	}
	if copied, _ := up(program(t, "one")); copied != token+2 {
		t.Errorf("the first time: %d files copied", copied)
	}
	if copied, _ := up(program(t, "one")); copied != 0 || m.count("docker exec c-worker bash -c systemctl enable --quiet --now sandboxd") != 1 {
		t.Errorf("the same again: %v", m.ran)
	}
	if copied, host := up(""); copied != 0 || host.SandboxdAddr == "" || host.SandboxdControlURL == "" {
		t.Errorf("one that runs already: %d files copied, %+v", copied, host)
	}
	if copied, _ := up(program(t, "two")); copied != token+2 {
		t.Errorf("another one: %d files copied", copied)
	}
	m.answers["docker inspect -f {{range"] = "172.18.0.9"
	if copied, _ := up(""); copied != token || !strings.Contains(m.units["c-worker"], "--advertise-addr 172.18.0.9:7777") {
		t.Errorf("another address: %d files copied, %s", copied, m.units["c-worker"])
	}
	if err := os.Remove(c.tokenFile()); err != nil {
		t.Fatal(err)
	}
	if copied, _ := up(""); copied != token {
		t.Errorf("another token: %d files copied", copied)
	}
}

func TestSandboxdThatDoesNotStart(t *testing.T) {
	m := twoHosts()
	m.fails["docker exec c-worker2 bash"] = 1
	c := newCluster(t, m)
	err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: program(t, "one")})
	if err == nil || !strings.Contains(err.Error(), "c-worker2") || !strings.Contains(err.Error(), "takes no requests") {
		t.Errorf("Up: %v", err)
	}
}
