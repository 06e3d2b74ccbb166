// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"
)

// control runs the controllers until ctx ends.
func (v *VirtualNode) control(ctx context.Context, port int32) error {
	c := &v.config
	published, err := claimIdentity(ctx, c.HeartbeatClient, c.NodeName, c.HostID)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	nodes := c.HeartbeatClient.CoreV1().Nodes()
	desired := newNode(c, port, c.Conditions(), time.Now())
	if published != nil {
		keepTransitions(desired, published)
		if _, err := restore(ctx, nodes, published, desired, c.HostID); err != nil {
			klog.FromContext(ctx).Error(err, "Ordinary workloads may be scheduled to this node")
		}
	}

	pods, err := newPodController(c)
	if err != nil {
		return err
	}
	if err := observePods(c.Pods, c.Observer); err != nil {
		return err
	}
	sameHost, err := watchHost(c.Node, nodes, c.HostID)
	if err != nil {
		return err
	}
	v.controller.Store(pods)
	group, ctx := errgroup.WithContext(ctx)
	defer c.Pods.factory.Shutdown()
	c.Node.factory.StartWithContext(ctx)
	defer c.Node.factory.Shutdown()
	group.Go(func() error { return sameHost(ctx) })
	group.Go(func() error { return v.runNode(ctx, pods, desired) })
	return group.Wait()
}

// runNode runs the pod controller, once that is admitted, and the registration.
// The Node has room for Pods only while the pod controller runs.
func (v *VirtualNode) runNode(ctx context.Context, pods *node.PodController, desired *corev1.Node) error {
	c := &v.config
	admitted := c.Admitted == nil || passed(c.Admitted)
	if !admitted {
		klog.FromContext(ctx).Info("Node takes no Pods until the daemon is admitted", "node", klog.KObj(desired))
		desired.Status.Capacity[corev1.ResourcePods] = resource.Quantity{}
		desired.Status.Allocatable[corev1.ResourcePods] = resource.Quantity{}
	}
	status := newNodeStatus(desired)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if !admitted && !await(ctx, c.Admitted) {
			return nil
		}
		c.Pods.factory.StartWithContext(ctx)
		return runPods(ctx, pods)
	})
	group.Go(func() error {
		if admitted && !await(ctx, pods.Ready()) {
			return nil
		}
		r := &registration{
			status:       status,
			client:       c.HeartbeatClient,
			node:         c.Node,
			hostID:       c.HostID,
			conditions:   c.Conditions,
			recorder:     c.Recorder,
			onRegistered: v.registered.pass,
		}
		return r.run(ctx)
	})
	if !admitted {
		group.Go(func() error {
			if await(ctx, pods.Ready()) {
				klog.FromContext(ctx).Info("The daemon is admitted, Node takes Pods", "node", klog.KObj(desired))
				status.setPods(c.MaxPods)
			}
			return nil
		})
	}
	return group.Wait()
}

// await waits for done, and reports whether it came before the end of ctx.
func await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-done:
		return true
	}
}

// passed reports whether done is closed.
func passed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
