// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"net/netip"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

const (
	etcdPort    = "2379"
	etcdPeer    = "2380"
	etcdMetrics = "2381"
)

// Etcd is the store of the API server. It does not sync to disk: a cluster for
// tests need not outlive the machine.
func Etcd(p layout.Paths, binary string, own netip.Addr) process.Component {
	client, peer := "https://"+own.String()+":"+etcdPort, "http://"+own.String()+":"+etcdPeer
	metrics := "http://" + own.String() + ":" + etcdMetrics
	return process.Component{
		Name: "etcd",
		Argv: []string{
			binary,
			"--name=etcd",
			"--data-dir=" + p.Etcd(),
			"--unsafe-no-fsync",
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=etcd=" + peer,
			"--listen-metrics-urls=" + metrics,
			"--cert-file=" + p.Cert(identity.EtcdCert),
			"--key-file=" + p.Key(identity.EtcdCert),
			"--trusted-ca-file=" + p.Cert(identity.EtcdCA),
			"--client-cert-auth",
			"--log-level=warn",
		},
		Healthy: func(ctx context.Context) error { return get(ctx, plain, metrics+"/health") },
	}
}
