// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
)

// control runs the controllers until ctx ends.
func (v *VirtualNode) control(ctx context.Context, port int32) error {
	c := &v.config
	object, err := nodeobject.Claim(ctx, c.Config, port)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	pods, err := newPodController(c)
	if err != nil {
		return err
	}
	if c.Observer != nil {
		if err := c.Pods.Observe(c.Observer); err != nil {
			return err
		}
	}
	sameHost, err := object.WatchHost()
	if err != nil {
		return err
	}
	v.controller.Store(pods)
	group, ctx := errgroup.WithContext(ctx)
	defer c.Pods.Shutdown()
	c.Node.Start(ctx)
	defer c.Node.Shutdown()
	group.Go(func() error { return sameHost(ctx) })
	group.Go(func() error { return v.runNode(ctx, pods, object) })
	return group.Wait()
}

// runNode runs the registration and, once admitted, the pod controller. The Node has
// capacity for Pods only while the pod controller runs.
func (v *VirtualNode) runNode(ctx context.Context, pods *node.PodController, object *nodeobject.Controller) error {
	c := &v.config
	logger := klog.FromContext(ctx).WithValues("node", klog.KRef("", c.NodeName))
	admitted := c.Admitted == nil || closed(c.Admitted)
	if !admitted {
		logger.Info("Node takes no Pods until the daemon is admitted")
		object.SetMaxPods(resource.Quantity{})
	}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if !admitted && !await(ctx, c.Admitted) {
			return nil
		}
		c.Pods.Start(ctx)
		return runPods(ctx, pods)
	})
	group.Go(func() error {
		if admitted && !await(ctx, pods.Ready()) {
			return nil
		}
		return object.Run(ctx, v.setRegistered)
	})
	if !admitted {
		group.Go(func() error {
			if await(ctx, pods.Ready()) {
				logger.Info("The daemon is admitted, Node takes Pods")
				object.SetMaxPods(c.MaxPods)
			}
			return nil
		})
	}
	return group.Wait()
}

// await waits for done, and reports whether it was closed before ctx ended.
func await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-done:
		return true
	}
}

// closed reports whether done is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
