// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"net/netip"
	"os"
)

// Names of certificates and keys.
const (
	clusterCA         = "ca"
	etcdCA            = "etcd-ca"
	frontProxyCA      = "front-proxy-ca"
	etcdCert          = "etcd"
	etcdClientCert    = "etcd-client"
	frontProxyCert    = "front-proxy-client"
	controlPlaneCert  = "control-plane"
	kubeletClientCert = "kubelet-client"
	adminCert         = "admin"
	schedulerCert     = "kube-scheduler"
	managerCert       = "kube-controller-manager"
	proxyCert         = "kube-proxy"
	serviceAccountKey = "service-account"
)

// kubeletCert is the certificate that a host's kubelet serves with, and logs in
// with as its Node.
func kubeletCert(host string) string { return "kubelet-" + host }

// ensureControlPlanePKI makes the authorities and the control plane's
// certificates, except those that are there.
func ensureControlPlanePKI(p paths, network netip.Prefix) error {
	own := net.IP(bridgeAddr(network).AsSlice())
	loopback := net.IPv4(127, 0, 0, 1)
	serviceNames := []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	for _, group := range []struct {
		authority string
		leaves    []leaf
	}{
		{etcdCA, []leaf{
			{name: etcdCert, user: "etcd", ips: []net.IP{own, loopback}},
			{name: etcdClientCert, user: "kube-apiserver"},
		}},
		{frontProxyCA, []leaf{{name: frontProxyCert, user: "front-proxy-client"}}},
		{clusterCA, []leaf{
			{name: controlPlaneCert, user: "kube-apiserver", dns: serviceNames, ips: []net.IP{own, loopback, net.ParseIP(firstServiceIP)}},
			{name: kubeletClientCert, user: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}},
			{name: adminCert, user: "kubernetes-admin", groups: []string{"system:masters"}},
			{name: schedulerCert, user: "system:kube-scheduler"},
			{name: managerCert, user: "system:kube-controller-manager"},
			{name: proxyCert, user: "system:kube-proxy"},
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
func ensureServiceAccountKey(p paths) error {
	if _, err := os.Stat(p.key(serviceAccountKey)); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(p.key(serviceAccountKey), key)
}

// ensureHostPKI makes the certificate of a host's kubelet, unless it is there.
func ensureHostPKI(p paths, a address) error {
	ca, err := ensureAuthority(p, clusterCA)
	if err != nil {
		return err
	}
	return ca.ensure(p, leaf{
		name: kubeletCert(a.name), user: "system:node:" + a.name, groups: []string{"system:nodes"},
		dns: []string{a.name}, ips: []net.IP{net.IP(a.ip.AsSlice()), net.IPv4(127, 0, 0, 1)},
	})
}
