// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// network is that of the tests.
func network() netip.Prefix { return netip.MustParsePrefix("10.99.0.0/24") }

// readJSON decodes a file that was rendered.
func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func TestHostConfiguration(t *testing.T) {
	p := layout.Paths{State: t.TempDir()}
	a := layout.HostAddress(network(), 2)
	h := p.Host(a.Name)
	if err := identity.EnsureControlPlanePKI(p, network()); err != nil {
		t.Fatal(err)
	}
	if err := identity.EnsureHostPKI(p, a); err != nil {
		t.Fatal(err)
	}
	if err := WriteKubeletConfig(p, a, "/vksbx/host-2", "https://10.99.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	if err := WriteContainerdConfig(h, a, "/usr/lib/cni", "overlayfs"); err != nil {
		t.Fatal(err)
	}
	var kubelet struct {
		CgroupRoot, ContainerRuntimeEndpoint, ResolvConf, TLSCertFile string
	}
	readJSON(t, h.Config("kubelet.json"), &kubelet)
	if kubelet.CgroupRoot != "/vksbx/host-2" || kubelet.ContainerRuntimeEndpoint != "unix:///run/containerd/containerd.sock" {
		t.Errorf("kubelet: %+v", kubelet)
	}
	for _, file := range []string{kubelet.ResolvConf, kubelet.TLSCertFile} {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("kubelet is told of a file that is not there: %v", err)
		}
	}
	var cni struct {
		Plugins []struct {
			Type string
			IPAM struct{ Ranges [][]struct{ Subnet string } }
		}
	}
	readJSON(t, h.Config("cni/ptp.conflist"), &cni)
	if len(cni.Plugins) == 0 || cni.Plugins[0].IPAM.Ranges[0][0].Subnet != "10.244.2.0/24" {
		t.Errorf("Pod network: %+v", cni)
	}
	toml, err := os.ReadFile(h.Config("containerd.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`restrict_oom_score_adj = true`, `snapshotter = "overlayfs"`, `bin_dir = "/usr/lib/cni"`,
		`conf_dir = "` + filepath.Dir(h.Config("cni/ptp.conflist")) + `"`, `sandbox_image = "` + PauseImage + `"`,
		`address = "/run/containerd/containerd.sock.ttrpc"`,
	} {
		if !strings.Contains(string(toml), line) {
			t.Errorf("containerd.toml lacks %s", line)
		}
	}
}

func TestHostsShareOneToken(t *testing.T) {
	p := layout.Paths{State: t.TempDir()}
	var tokens []string
	for n := range 2 {
		h := p.Host(layout.HostAddress(network(), n+1).Name)
		if err := EnsureToken(p, h); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(h.SandboxdToken())
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, strings.TrimSpace(string(content)))
	}
	if len(tokens[0]) < 20 || tokens[0] != tokens[1] {
		t.Errorf("tokens %q", tokens)
	}
}
