// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"crypto/x509"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var testNetwork = netip.MustParsePrefix("10.99.0.0/24")

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

func TestPKI(t *testing.T) {
	p := paths{t.TempDir()}
	a := hostAddress(testNetwork, 2)
	for range 2 {
		if err := ensureControlPlanePKI(p, testNetwork); err != nil {
			t.Fatal(err)
		}
		if err := ensureHostPKI(p, a); err != nil {
			t.Fatal(err)
		}
	}
	authority := func(name string) *x509.CertPool {
		pool := x509.NewCertPool()
		content, err := os.ReadFile(p.cert(name))
		if err != nil || !pool.AppendCertsFromPEM(content) {
			t.Fatalf("authority %s: %v", name, err)
		}
		return pool
	}
	for _, test := range []struct{ cert, ca, user, group, server string }{
		{controlPlaneCert, clusterCA, "kube-apiserver", "", "10.96.0.1"},
		{controlPlaneCert, clusterCA, "kube-apiserver", "", "10.99.0.1"},
		{controlPlaneCert, clusterCA, "kube-apiserver", "", "kubernetes.default.svc"},
		{adminCert, clusterCA, "kubernetes-admin", "system:masters", ""},
		{kubeletCert("host-2"), clusterCA, "system:node:host-2", "system:nodes", "10.99.0.12"},
		{etcdCert, etcdCA, "etcd", "", "10.99.0.1"},
		{frontProxyCert, frontProxyCA, "front-proxy-client", "", ""},
	} {
		a, err := ensureLoaded(p, test.cert)
		if err != nil {
			t.Fatal(err)
		}
		usage := x509.ExtKeyUsageClientAuth
		if test.server != "" {
			usage = x509.ExtKeyUsageServerAuth
		}
		_, err = a.Verify(x509.VerifyOptions{
			Roots: authority(test.ca), DNSName: test.server, KeyUsages: []x509.ExtKeyUsage{usage},
		})
		if err != nil {
			t.Errorf("%s: %v", test.cert, err)
		}
		if a.Subject.CommonName != test.user || (test.group != "" && !slices.Contains(a.Subject.Organization, test.group)) {
			t.Errorf("%s is of %v", test.cert, a.Subject)
		}
	}
	client, err := ensureLoaded(p, etcdClientCert)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: authority(clusterCA)}); err == nil {
		t.Error("the authority of the cluster vouches for a client of etcd")
	}
	info, err := os.Stat(p.key(adminCert))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the administrator's key: %v, %v", info.Mode(), err)
	}
}

func ensureLoaded(p paths, name string) (*x509.Certificate, error) {
	a, err := ensureAuthority(p, name)
	if err != nil {
		return nil, err
	}
	return a.cert, nil
}

func TestKubeconfig(t *testing.T) {
	p := paths{t.TempDir()}
	if err := ensureControlPlanePKI(p, testNetwork); err != nil {
		t.Fatal(err)
	}
	if err := writeKubeconfig(p, p.kubeconfig(), "https://10.99.0.1:6443", adminCert); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Current  string `json:"current-context"`
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			}
		}
		Contexts []struct{ Name string }
	}
	readJSON(t, p.kubeconfig(), &got)
	if got.Clusters[0].Cluster.Server != "https://10.99.0.1:6443" || got.Current != got.Contexts[0].Name {
		t.Errorf("server or context: %+v", got)
	}
	for file, data := range map[string][]byte{
		p.cert(clusterCA): got.Clusters[0].Cluster.CA, p.cert(adminCert): got.Users[0].User.Cert, p.key(adminCert): got.Users[0].User.Key,
	} {
		want, err := os.ReadFile(file)
		if err != nil || string(want) != string(data) {
			t.Errorf("the kubeconfig does not hold %s", file)
		}
	}
}

func TestHostConfiguration(t *testing.T) {
	p := paths{t.TempDir()}
	a := hostAddress(testNetwork, 2)
	h := p.host(a.name)
	if err := ensureControlPlanePKI(p, testNetwork); err != nil {
		t.Fatal(err)
	}
	if err := ensureHostPKI(p, a); err != nil {
		t.Fatal(err)
	}
	if err := writeKubeletConfig(p, a, "/vksbx/host-2", "https://10.99.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	if err := writeContainerdConfig(h, a, "/usr/lib/cni", "overlayfs"); err != nil {
		t.Fatal(err)
	}
	var kubelet struct {
		CgroupRoot, ContainerRuntimeEndpoint, ResolvConf, TLSCertFile string
	}
	readJSON(t, h.config("kubelet.json"), &kubelet)
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
	readJSON(t, h.config("cni/ptp.conflist"), &cni)
	if len(cni.Plugins) == 0 || cni.Plugins[0].IPAM.Ranges[0][0].Subnet != "10.244.2.0/24" {
		t.Errorf("Pod network: %+v", cni)
	}
	toml, err := os.ReadFile(h.config("containerd.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`restrict_oom_score_adj = true`, `snapshotter = "overlayfs"`, `bin_dir = "/usr/lib/cni"`,
		`conf_dir = "` + filepath.Dir(h.config("cni/ptp.conflist")) + `"`, `sandbox_image = "` + pauseImage + `"`,
		`address = "/run/containerd/containerd.sock.ttrpc"`,
	} {
		if !strings.Contains(string(toml), line) {
			t.Errorf("containerd.toml lacks %s", line)
		}
	}
}

func TestHostsShareOneToken(t *testing.T) {
	p := paths{t.TempDir()}
	var tokens []string
	for n := range 2 {
		h := p.host(hostAddress(testNetwork, n+1).name)
		if err := ensureToken(p, h); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(h.sandboxdToken())
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, strings.TrimSpace(string(content)))
	}
	if len(tokens[0]) < 20 || tokens[0] != tokens[1] {
		t.Errorf("tokens %q", tokens)
	}
}

func TestHidden(t *testing.T) {
	for folder, want := range map[string]bool{
		"/run": true, "/run/user/0/x": true, "/var/lib/jenkins/.cache": true, "/var/logs": false, "/opt/.cache": false, "/var": false,
	} {
		if got := hidden(folder); got != want {
			t.Errorf("hidden(%s) = %v", folder, got)
		}
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	var lines []string
	for i := range 5000 {
		lines = append(lines, strings.Repeat("x", 20)+" "+string(rune('a'+i%26)))
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := tail(file)
	if want := strings.Join(lines[len(lines)-tailLines:], "\n"); err != nil || got != want {
		t.Errorf("tail: %v\n%s", err, got)
	}
	if _, err := tail(file + "-none"); err == nil {
		t.Error("no error for a log that is not there")
	}
}

func TestWave(t *testing.T) {
	order := []string{"host-1.kubelet", "kube-apiserver", "etcd", "host-1.init"}
	for i, name := range order {
		if got := wave(name); got != i {
			t.Errorf("%s ends in wave %d, want %d", name, got, i)
		}
	}
	if wave("host-1.containerd") <= wave("host-1.kubelet") {
		t.Error("containerd ends before kubelet")
	}
}
