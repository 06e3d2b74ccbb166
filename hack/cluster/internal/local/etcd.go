// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"net/netip"
)

const (
	etcdPort    = "2379"
	etcdPeer    = "2380"
	etcdMetrics = "2381"
)

// etcd is the store of the API server. It does not sync to disk: a cluster for
// tests need not outlive the machine.
func etcd(p paths, binary string, own netip.Addr) component {
	client, peer := "https://"+own.String()+":"+etcdPort, "http://"+own.String()+":"+etcdPeer
	metrics := "http://" + own.String() + ":" + etcdMetrics
	return component{
		name: "etcd",
		argv: []string{
			binary,
			"--name=etcd",
			"--data-dir=" + p.etcd(),
			"--unsafe-no-fsync",
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=etcd=" + peer,
			"--listen-metrics-urls=" + metrics,
			"--cert-file=" + p.cert(etcdCert),
			"--key-file=" + p.key(etcdCert),
			"--trusted-ca-file=" + p.cert(etcdCA),
			"--client-cert-auth",
			"--log-level=warn",
		},
		healthy: func(ctx context.Context) error { return get(ctx, plain, metrics+"/health") },
	}
}
