// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"net/netip"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// writeKubeletConfig writes the configuration, login and resolv.conf of a
// host's kubelet.
func writeKubeletConfig(p paths, a address, cgroupRoot, server string) error {
	h := p.host(a.name)
	// The machine's own can be a link into /run, where a host has its own.
	resolv, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := cluster.WriteFile(h.config("resolv.conf"), resolv, 0o644); err != nil {
		return err
	}
	if err := writeKubeconfig(p, h.config("kubelet.kubeconfig"), server, kubeletCert(a.name)); err != nil {
		return err
	}
	return writeJSON(h.config("kubelet.json"), kubeletConfig(p, h, a, cgroupRoot))
}

// kubeletConfig is meant for a machine that is not kubelet's own: a part of the
// cgroup tree, no reservation, no eviction before it is really full, and no removal of
// images that can not be pulled again.
func kubeletConfig(p paths, h hostPaths, a address, cgroupRoot string) object {
	return object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"containerRuntimeEndpoint": "unix://" + containerdSocket,
		"resolvConf":               h.config("resolv.conf"),
		"authentication": object{
			"anonymous": object{"enabled": false},
			"webhook":   object{"enabled": true},
			"x509":      object{"clientCAFile": p.cert(clusterCA)},
		},
		"authorization":     object{"mode": "Webhook"},
		"tlsCertFile":       p.cert(kubeletCert(a.name)),
		"tlsPrivateKeyFile": p.key(kubeletCert(a.name)),

		"failCgroupV1":                  false,
		"cgroupDriver":                  "cgroupfs",
		"cgroupRoot":                    cgroupRoot,
		"cgroupsPerQOS":                 true,
		"enforceNodeAllocatable":        []string{},
		"failSwapOn":                    false,
		"localStorageCapacityIsolation": false,
		"evictionHard": object{
			"memory.available": "50Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%", "imagefs.available": "1%",
		},
		// Tests wait for what a Node says.
		"nodeStatusUpdateFrequency":   "3s",
		"imageGCHighThresholdPercent": 100,
		"imageGCLowThresholdPercent":  99,
	}
}

func kubelet(p paths, a address, in *namespaces, binary string, clients tlsClients) component {
	h := p.host(a.name)
	return component{
		name: a.name + ".kubelet",
		in:   in,
		argv: []string{
			binary,
			"--config=" + h.config("kubelet.json"),
			"--kubeconfig=" + h.config("kubelet.kubeconfig"),
			"--hostname-override=" + a.name,
			"--node-ip=" + a.ip.String(),
		},
		inputs: []string{h.config("kubelet.json"), h.config("kubelet.kubeconfig"), h.config("resolv.conf"), p.cert(kubeletCert(a.name))},
		healthy: func(ctx context.Context) error {
			return get(ctx, clients.admin, fmt.Sprintf("https://%s/healthz", netip.AddrPortFrom(a.ip, 10250)))
		},
	}
}
