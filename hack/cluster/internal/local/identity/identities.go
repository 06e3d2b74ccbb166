// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"net/netip"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// Names of certificates and keys.
const (
	ClusterCA         = "ca"
	EtcdCA            = "etcd-ca"
	FrontProxyCA      = "front-proxy-ca"
	EtcdCert          = "etcd"
	EtcdClientCert    = "etcd-client"
	FrontProxyCert    = "front-proxy-client"
	ControlPlaneCert  = "control-plane"
	KubeletClientCert = "kubelet-client"
	AdminCert         = "admin"
	SchedulerCert     = "kube-scheduler"
	ManagerCert       = "kube-controller-manager"
	ProxyCert         = "kube-proxy"
	ServiceAccountKey = "service-account"
)

// KubeletCert is the certificate that a host's kubelet serves with, and logs in
// with as its Node.
func KubeletCert(host string) string { return "kubelet-" + host }

// EnsureControlPlanePKI makes the authorities and the control plane's
// certificates, except those that are there.
func EnsureControlPlanePKI(p layout.Paths, network netip.Prefix) error {
	own := net.IP(layout.BridgeAddr(network).AsSlice())
	loopback := net.IPv4(127, 0, 0, 1)
	serviceNames := []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	for _, group := range []struct {
		authority string
		leaves    []leaf
	}{
		{EtcdCA, []leaf{
			{name: EtcdCert, user: "etcd", ips: []net.IP{own, loopback}},
			{name: EtcdClientCert, user: "kube-apiserver"},
		}},
		{FrontProxyCA, []leaf{{name: FrontProxyCert, user: "front-proxy-client"}}},
		{ClusterCA, []leaf{
			{name: ControlPlaneCert, user: "kube-apiserver", dns: serviceNames, ips: []net.IP{own, loopback, net.ParseIP(layout.FirstServiceIP)}},
			{name: KubeletClientCert, user: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}},
			{name: AdminCert, user: "kubernetes-admin", groups: []string{"system:masters"}},
			{name: SchedulerCert, user: "system:kube-scheduler"},
			{name: ManagerCert, user: "system:kube-controller-manager"},
			{name: ProxyCert, user: "system:kube-proxy"},
		}},
	} {
		a, err := ensureAuthority(p, group.authority)
		if err != nil {
			return err
		}
		for _, l := range group.leaves {
			if err := a.ensure(p, l); err != nil {
				return err
			}
		}
	}
	return ensureServiceAccountKey(p)
}

// ensureServiceAccountKey makes the key that signs service account tokens.
func ensureServiceAccountKey(p layout.Paths) error {
	if _, err := os.Stat(p.Key(ServiceAccountKey)); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(p.Key(ServiceAccountKey), key)
}

// EnsureHostPKI makes the certificate of a host's kubelet, unless it is there.
func EnsureHostPKI(p layout.Paths, a layout.Address) error {
	ca, err := ensureAuthority(p, ClusterCA)
	if err != nil {
		return err
	}
	return ca.ensure(p, leaf{
		name: KubeletCert(a.Name), user: "system:node:" + a.Name, groups: []string{"system:nodes"},
		dns: []string{a.Name}, ips: []net.IP{net.IP(a.IP.AsSlice()), net.IPv4(127, 0, 0, 1)},
	})
}
