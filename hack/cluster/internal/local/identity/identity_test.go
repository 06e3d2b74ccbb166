// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package identity

import (
	"crypto/x509"
	"encoding/json"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// network is that of the tests.
func network() netip.Prefix { return netip.MustParsePrefix("10.99.0.0/24") }

func TestPKI(t *testing.T) {
	p := layout.Paths{State: t.TempDir()}
	a := layout.HostAddress(network(), 2)
	for range 2 {
		if err := EnsureControlPlanePKI(p, network()); err != nil {
			t.Fatal(err)
		}
		if err := EnsureHostPKI(p, a); err != nil {
			t.Fatal(err)
		}
	}
	authority := func(name string) *x509.CertPool {
		pool := x509.NewCertPool()
		content, err := os.ReadFile(p.Cert(name))
		if err != nil || !pool.AppendCertsFromPEM(content) {
			t.Fatalf("authority %s: %v", name, err)
		}
		return pool
	}
	for _, test := range []struct{ cert, ca, user, group, server string }{
		{ControlPlaneCert, ClusterCA, "kube-apiserver", "", "10.96.0.1"},
		{ControlPlaneCert, ClusterCA, "kube-apiserver", "", "10.99.0.1"},
		{ControlPlaneCert, ClusterCA, "kube-apiserver", "", "kubernetes.default.svc"},
		{AdminCert, ClusterCA, "kubernetes-admin", "system:masters", ""},
		{KubeletCert("host-2"), ClusterCA, "system:node:host-2", "system:nodes", "10.99.0.12"},
		{EtcdCert, EtcdCA, "etcd", "", "10.99.0.1"},
		{FrontProxyCert, FrontProxyCA, "front-proxy-client", "", ""},
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
	client, err := ensureLoaded(p, EtcdClientCert)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: authority(ClusterCA)}); err == nil {
		t.Error("the authority of the cluster signs a client of etcd")
	}
	info, err := os.Stat(p.Key(AdminCert))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the administrator's key: %v, %v", info.Mode(), err)
	}
}

func ensureLoaded(p layout.Paths, name string) (*x509.Certificate, error) {
	a, err := ensureAuthority(p, name)
	if err != nil {
		return nil, err
	}
	return a.cert, nil
}

func TestKubeconfig(t *testing.T) {
	p := layout.Paths{State: t.TempDir()}
	if err := EnsureControlPlanePKI(p, network()); err != nil {
		t.Fatal(err)
	}
	if err := WriteKubeconfig(p, p.Kubeconfig(), "https://10.99.0.1:6443", AdminCert); err != nil {
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
	content, err := os.ReadFile(p.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	if got.Clusters[0].Cluster.Server != "https://10.99.0.1:6443" || got.Current != got.Contexts[0].Name {
		t.Errorf("server or context: %+v", got)
	}
	for file, data := range map[string][]byte{
		p.Cert(ClusterCA): got.Clusters[0].Cluster.CA, p.Cert(AdminCert): got.Users[0].User.Cert, p.Key(AdminCert): got.Users[0].User.Key,
	} {
		want, err := os.ReadFile(file)
		if err != nil || string(want) != string(data) {
			t.Errorf("the kubeconfig does not hold %s", file)
		}
	}
}
