// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

const kubeProxyHealthPort = 10256

// KubeProxy serves the Services' addresses within a host, so that a Pod in the
// host's network reaches the API server by its in-cluster configuration. The
// size of the connection table belongs to the machine, and is left alone.
func KubeProxy(p layout.Paths, a layout.Address, in *process.Namespaces, binary string) process.Component {
	health := netip.AddrPortFrom(a.IP, kubeProxyHealthPort)
	return process.Component{
		Name: a.Name + ".kube-proxy",
		In:   in,
		Argv: []string{
			binary,
			"--kubeconfig=" + p.Config(identity.ProxyCert),
			"--hostname-override=" + a.Name,
			"--proxy-mode=iptables",
			"--cluster-cidr=" + layout.ClusterPodCIDR,
			"--conntrack-max-per-core=0",
			"--conntrack-min=0",
			"--healthz-bind-address=" + health.String(),
			"--metrics-bind-address=127.0.0.1:10249",
		},
		Inputs:  []string{p.Config(identity.ProxyCert)},
		Healthy: func(ctx context.Context) error { return get(ctx, plain, fmt.Sprintf("http://%s/healthz", health)) },
	}
}
