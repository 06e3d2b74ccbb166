// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/sync/errgroup"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/kubeletapi"
)

// VirtualNode is one virtual node of a cluster.
type VirtualNode struct {
	config Config
	// registered is closed by setRegistered.
	registered    chan struct{}
	setRegistered func()
	// controller is nil until it has been built.
	controller atomic.Pointer[node.PodController]
}

// New checks the configuration. Nothing is opened or sent before Run.
func New(c Config) (*VirtualNode, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	registered := make(chan struct{})
	return &VirtualNode{config: c, registered: registered, setRegistered: sync.OnceFunc(func() { close(registered) })}, nil
}

// Registered is closed once the Node is in the cluster. Objects that refer to the Node
// must wait for it. The node's Pods are known by then, unless the daemon is not admitted
// yet (see [Config.Admitted]); [podcache.Informer.HasSynced] reports whether they are.
func (v *VirtualNode) Registered() <-chan struct{} { return v.registered }

// Run brings the node up as the package comment describes, and keeps it until ctx ends.
// It then returns nil once everything it started has stopped. The Node object stays and
// stays Ready: a restart of the daemon must not evict its Pods. An error means that the
// node cannot be served. A [kubeletapi.AddressError], a [kubeletapi.CertificateError] or
// a [nodeobject.NameTakenError], which can also come later, requires a changed setting.
// Run may be called once.
func (v *VirtualNode) Run(ctx context.Context) error {
	ctx = withLibraryLog(ctx)
	c := &v.config

	api, err := kubeletapi.Listen(ctx, kubeletapi.Config{
		ListenAddr: c.ListenAddr, CertFile: c.CertFile, KeyFile: c.KeyFile, NodeName: c.NodeName, NodeIP: c.NodeIP,
	})
	if err != nil {
		return err
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return api.Run(ctx) })
	group.Go(func() error { return v.control(ctx, api.Port()) })
	return group.Wait()
}
