// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

// WriteKubeletConfig writes the configuration, login and resolv.conf of a
// host's kubelet.
func WriteKubeletConfig(p layout.Paths, a layout.Address, cgroupRoot, server string) error {
	h := p.Host(a.Name)
	// The machine's own can be a link into /run, where a host has its own.
	resolv, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := cluster.WriteFile(h.Config("resolv.conf"), resolv, 0o644); err != nil {
		return err
	}
	if err := identity.WriteKubeconfig(p, h.Config("kubelet.kubeconfig"), server, identity.KubeletCert(a.Name)); err != nil {
		return err
	}
	return identity.WriteJSON(h.Config("kubelet.json"), kubeletConfig(p, h, a, cgroupRoot))
}

// kubeletConfig is meant for a machine that is not kubelet's own: a part of the
// cgroup tree, no reservation, no eviction before it is really full, and no removal of
// images that can not be pulled again.
func kubeletConfig(p layout.Paths, h layout.HostPaths, a layout.Address, cgroupRoot string) identity.Object {
	return identity.Object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"containerRuntimeEndpoint": "unix://" + layout.ContainerdSocket,
		"resolvConf":               h.Config("resolv.conf"),
		"authentication": identity.Object{
			"anonymous": identity.Object{"enabled": false},
			"webhook":   identity.Object{"enabled": true},
			"x509":      identity.Object{"clientCAFile": p.Cert(identity.ClusterCA)},
		},
		"authorization":     identity.Object{"mode": "Webhook"},
		"tlsCertFile":       p.Cert(identity.KubeletCert(a.Name)),
		"tlsPrivateKeyFile": p.Key(identity.KubeletCert(a.Name)),

		"failCgroupV1":                  false,
		"cgroupDriver":                  "cgroupfs",
		"cgroupRoot":                    cgroupRoot,
		"cgroupsPerQOS":                 true,
		"enforceNodeAllocatable":        []string{},
		"failSwapOn":                    false,
		"localStorageCapacityIsolation": false,
		"evictionHard": identity.Object{
			"memory.available": "50Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%", "imagefs.available": "1%",
		},
		// Tests wait for what a Node says.
		"nodeStatusUpdateFrequency":   "3s",
		"imageGCHighThresholdPercent": 100,
		"imageGCLowThresholdPercent":  99,
	}
}

// Kubelet serves the Node of a host.
func Kubelet(p layout.Paths, a layout.Address, in *process.Namespaces, binary string, admin *http.Client) process.Component {
	h := p.Host(a.Name)
	return process.Component{
		Name: a.Name + ".kubelet",
		In:   in,
		Argv: []string{
			binary,
			"--config=" + h.Config("kubelet.json"),
			"--kubeconfig=" + h.Config("kubelet.kubeconfig"),
			"--hostname-override=" + a.Name,
			"--node-ip=" + a.IP.String(),
		},
		Inputs: []string{h.Config("kubelet.json"), h.Config("kubelet.kubeconfig"), h.Config("resolv.conf"), p.Cert(identity.KubeletCert(a.Name))},
		Healthy: func(ctx context.Context) error {
			return get(ctx, admin, fmt.Sprintf("https://%s/healthz", netip.AddrPortFrom(a.IP, 10250)))
		},
	}
}
