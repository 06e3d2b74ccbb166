// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// WatchHost returns a function that returns a [NameTakenError] once another host has the
// Node, and nil when its context ends. If both hosts continued, each would take the
// other's Pods for its own. Call it before the informer starts, so that no event is
// missed.
func (c *Controller) WatchHost() (func(context.Context) error, error) {
	nodes, hostID := c.config.HeartbeatClient.CoreV1().Nodes(), c.config.HostID
	otherSeen := make(chan struct{}, 1)
	look := func(object any) {
		if n, ok := object.(*corev1.Node); ok && otherHost(n, hostID) != "" {
			select {
			case otherSeen <- struct{}{}:
			default:
			}
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, n any) { look(n) }}
	if _, err := c.config.Node.informer.Informer().AddEventHandler(handler); err != nil {
		return nil, fmt.Errorf("watch the node's host: %w", err)
	}
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-otherSeen:
			}
			// The watch may show a state from before this host took over the Node.
			if err := checkHost(ctx, nodes, c.config.NodeName, hostID); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}, nil
}

// checkHost returns an error if the Node at the API server carries another host's id. It
// waits for an API server that does not answer.
func checkHost(ctx context.Context, nodes corev1client.NodeInterface, name, hostID string) error {
	return retryDelays().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		n, err := nodes.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			klog.FromContext(ctx).Error(err, "Cannot read the Node's host yet, will try again", "node", name)
			return false, nil
		}
		if other := otherHost(n, hostID); other != "" {
			return false, &NameTakenError{fmt.Errorf("node %q was taken over by another host, whose identity is %q, while this one (%q) served it; "+
				"choose a node name of its own for one of the two", name, other, hostID)}
		}
		return true, nil
	})
}
