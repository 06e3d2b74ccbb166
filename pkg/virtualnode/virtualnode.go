// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
)

// VirtualNode is one virtual node of a cluster.
type VirtualNode struct {
	config     Config
	registered *milestone
	// controller is nil until it has been built.
	controller atomic.Pointer[node.PodController]
}

// New checks the configuration. Nothing is opened or sent before Run.
func New(c Config) (*VirtualNode, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &VirtualNode{config: c, registered: newMilestone()}, nil
}

// Registered is closed once the Node is in the cluster. What refers to the Node
// object waits for it. Its Pods are known by then, unless the daemon is not
// admitted yet (see [Config.Admitted]): whether they are, [PodInformer.HasSynced]
// tells.
func (v *VirtualNode) Registered() <-chan struct{} { return v.registered.done }

// Run brings the node up as the package comment describes, and keeps it until
// ctx ends; then it returns nil once everything it started has stopped. The
// Node object stays, still Ready: a daemon that restarts must not have its Pods
// evicted. An error means that the node cannot be served at all: the address
// cannot be bound, the certificate not loaded, the name is another node's or
// another host's, now or later. Where a setting has to be changed, it is a
// [SettingError]. Run may be called once.
func (v *VirtualNode) Run(ctx context.Context) error {
	ctx = withLibraryLog(ctx)
	c := &v.config

	pair, err := Certificate(ctx, c.CertFile, c.KeyFile, c.NodeName, c.NodeIP)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.ListenAddr)
	if err != nil {
		return &SettingError{SettingListenAddr, fmt.Errorf("listen for the kubelet API; is another virtual node using the address? %w", err)}
	}
	port := listener.Addr().(*net.TCPAddr).Port
	klog.FromContext(ctx).Info("Kubelet API is listening", "address", listener.Addr())

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, listener, pair, newRoutes()) })
	group.Go(func() error { return v.control(ctx, int32(port)) })
	return group.Wait()
}
