// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"net/http"
	"net/netip"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
)

// controlPlane returns the control plane's components, in the order they are to
// start. Files are the programs by name.
func (c *Cluster) controlPlane(network netip.Prefix, files map[string]string, admin *http.Client) []process.Component {
	own := layout.BridgeAddr(network)
	list := []process.Component{
		programs.Etcd(c.paths, files["etcd"], own),
		programs.APIServer(c.paths, files["kube-apiserver"], own, admin),
		programs.ControllerManager(c.paths, files["kube-controller-manager"], own, admin),
		programs.Scheduler(c.paths, files["kube-scheduler"], own, admin),
	}
	for i := range list {
		list[i].Log = c.paths.Log(list[i].Name)
	}
	return list
}

// hostComponents returns a host's components after containerd, which has to be
// up before them.
func (c *Cluster) hostComponents(a layout.Address, in *process.Namespaces, files map[string]string, admin *http.Client) []process.Component {
	list := []process.Component{
		programs.Kubelet(c.paths, a, in, files["kubelet"], admin),
		programs.KubeProxy(c.paths, a, in, files["kube-proxy"]),
	}
	if files["sandboxd"] != "" {
		list = append(list, programs.Sandboxd(c.paths.Host(a.Name), a, in, files["sandboxd"]))
	}
	for i := range list {
		list[i].Log = c.paths.Log(list[i].Name)
	}
	return list
}
