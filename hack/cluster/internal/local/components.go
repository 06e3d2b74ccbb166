// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"net/netip"
)

// controlPlane returns the control plane's components, in the order they are to
// start. Files are the programs by name.
func (c *Cluster) controlPlane(network netip.Prefix, files map[string]string, clients tlsClients) []component {
	own := bridgeAddr(network)
	list := []component{
		etcd(c.paths, files["etcd"], own),
		apiServer(c.paths, files["kube-apiserver"], own, clients),
		controllerManager(c.paths, files["kube-controller-manager"], own, clients),
		scheduler(c.paths, files["kube-scheduler"], own, clients),
	}
	for i := range list {
		list[i].log = c.paths.log(list[i].name)
	}
	return list
}

// hostComponents returns a host's components after containerd, which has to be
// up before them.
func (c *Cluster) hostComponents(a address, in *namespaces, files map[string]string, clients tlsClients) []component {
	list := []component{
		kubelet(c.paths, a, in, files["kubelet"], clients),
		kubeProxy(c.paths, a, in, files["kube-proxy"]),
	}
	if files["sandboxd"] != "" {
		list = append(list, sandboxd(c.paths.host(a.name), a, in, files["sandboxd"]))
	}
	for i := range list {
		list[i].log = c.paths.log(list[i].name)
	}
	return list
}
