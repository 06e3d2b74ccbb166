// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// pingTimeout bounds the library's ping, which otherwise waits for ever.
const pingTimeout = 5 * time.Second

// retryDelays is the back-off of requests to the API server at start.
func retryDelays() wait.DelayFunc {
	return wait.Backoff{
		Duration: time.Second, Factor: 2, Jitter: 0.2, Cap: 30 * time.Second, Steps: math.MaxInt32,
	}.DelayFunc()
}

// Controller registers this host's Node, and keeps the Node and its lease in the cluster.
type Controller struct {
	config Config
	status *nodeStatus
}

// Claim verifies that this host may use the node's name, and returns the controller of
// its Node. An existing Node of an earlier run is taken over: it gets this host's
// identity, and lost labels and taints are restored. port is that of the kubelet API.
//
// Claim waits for an API server that does not answer, and for the lease of another host
// to lapse. A name that belongs to someone else is a [NameTakenError].
func Claim(ctx context.Context, c Config, port int32) (*Controller, error) {
	published, err := claimIdentity(ctx, c.HeartbeatClient, c.NodeName, c.HostID)
	if err != nil {
		return nil, err
	}
	desired := newNode(&c, port, c.Conditions(), time.Now())
	if published != nil {
		keepTransitions(desired, published)
		if _, err := restore(ctx, c.HeartbeatClient.CoreV1().Nodes(), published, desired, c.HostID); err != nil {
			klog.FromContext(ctx).Error(err, "Ordinary workloads may be scheduled to this node")
		}
	}
	return &Controller{config: c, status: newNodeStatus(desired)}, nil
}

// SetMaxPods changes the Node's capacity for Pods.
func (c *Controller) SetMaxPods(pods resource.Quantity) { c.status.setPods(pods) }

// Run registers the Node and keeps it until ctx ends. onRegistered is called after each
// registration. The library's controller gives up if the API server is unreachable at its
// start; Run then starts a new one.
func (c *Controller) Run(ctx context.Context, onRegistered func()) error {
	logger := klog.FromContext(ctx)
	err := retryDelays().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := c.attempt(ctx, onRegistered)
		if ctx.Err() != nil {
			return true, nil
		}
		logger.Error(err, "Node is not registered, will try again")
		return false, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// attempt builds and runs one of the library's controllers, which cannot run twice. Its
// context ends with it, because the library leaves its ping loop running.
func (c *Controller) attempt(ctx context.Context, onRegistered func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	nodes := c.nodes()
	desired := c.status.forRegistration()
	provider := &nodeProvider{
		status: c.status, conditions: c.config.Conditions, recorder: c.config.Recorder, node: c.config.Node,
		restorer: restorer{nodes: nodes, node: c.config.Node, hostID: c.config.HostID},
	}
	controller, err := node.NewNodeController(provider, desired, nodes,
		node.WithNodeEnableLeaseV1(c.config.HeartbeatClient.CoordinationV1().Leases(corev1.NamespaceNodeLease), node.DefaultLeaseDuration),
		node.WithNodePingTimeout(pingTimeout),
		node.WithNodeStatusUpdateErrorHandler(c.recreate),
	)
	if err != nil {
		return fmt.Errorf("build the node controller: %w", err)
	}
	provider.registered = controller.Ready()
	go func() {
		select {
		case <-controller.Ready():
			klog.FromContext(ctx).Info("Node registered", "node", klog.KObj(desired))
			onRegistered()
		case <-ctx.Done():
		}
	}()
	if err := controller.Run(ctx); err != nil {
		return fmt.Errorf("run the node controller: %w", err)
	}
	return nil
}

// nodes creates Nodes with the host's identity.
func (c *Controller) nodes() corev1client.NodeInterface {
	return hostNodes{c.config.HeartbeatClient.CoreV1().Nodes(), c.config.HostID}
}

// recreate registers a Node again that someone has deleted. Every other error of a status
// update is returned: the next update tries again.
func (c *Controller) recreate(ctx context.Context, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	n := c.status.current()
	klog.FromContext(ctx).Info("Node was deleted, registering it again", "node", klog.KObj(n))
	if _, err := c.nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register node %q again: %w", n.Name, err)
	}
	return nil
}
