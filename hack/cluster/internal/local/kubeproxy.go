// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"net/netip"
)

const kubeProxyHealthPort = 10256

// kubeProxy serves the Services' addresses within a host, so that a Pod in the
// host's network reaches the API server by its in-cluster configuration. The
// size of the connection table belongs to the machine, and is left alone.
func kubeProxy(p paths, a address, in *namespaces, binary string) component {
	health := netip.AddrPortFrom(a.ip, kubeProxyHealthPort)
	return component{
		name: a.name + ".kube-proxy",
		in:   in,
		argv: []string{
			binary,
			"--kubeconfig=" + p.config(proxyCert),
			"--hostname-override=" + a.name,
			"--proxy-mode=iptables",
			"--cluster-cidr=" + clusterPodCIDR,
			"--conntrack-max-per-core=0",
			"--conntrack-min=0",
			"--healthz-bind-address=" + health.String(),
			"--metrics-bind-address=127.0.0.1:10249",
		},
		inputs:  []string{p.config(proxyCert)},
		healthy: func(ctx context.Context) error { return get(ctx, plain, fmt.Sprintf("http://%s/healthz", health)) },
	}
}
