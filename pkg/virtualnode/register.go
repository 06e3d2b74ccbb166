// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// pingTimeout bounds the library's ping, which waits for ever without it.
const pingTimeout = 5 * time.Second

// retryDelays paces everything that waits for the API server at start.
func retryDelays() wait.DelayFunc {
	return wait.Backoff{
		Duration: time.Second, Factor: 2, Jitter: 0.2, Cap: 30 * time.Second, Steps: math.MaxInt32,
	}.DelayFunc()
}

// registration keeps the Node and its lease in the cluster.
type registration struct {
	status     *nodeStatus
	client     kubernetes.Interface
	node       *NodeInformer
	hostID     string
	conditions func() []Condition
	recorder   record.EventRecorder
	// onRegistered is called each time a node controller has registered the
	// Node and keeps it.
	onRegistered func()
}

// run registers the Node and keeps it until ctx ends. The library's controller
// gives up when the API server is away at its start; it is started again.
func (r *registration) run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	err := retryDelays().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := r.attempt(ctx)
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

// attempt is one life of a node controller, which cannot be run twice. Its
// context ends with it, because the library leaves its ping loop running.
func (r *registration) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	nodes := r.nodes()
	desired := r.status.current()
	provider := &nodeProvider{
		status: r.status, conditions: r.conditions, recorder: r.recorder, node: r.node,
		restorer: restorer{nodes: nodes, node: r.node, hostID: r.hostID},
	}
	controller, err := node.NewNodeController(provider, desired, nodes,
		node.WithNodeEnableLeaseV1(r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), node.DefaultLeaseDuration),
		node.WithNodePingTimeout(pingTimeout),
		node.WithNodeStatusUpdateErrorHandler(r.recreate),
	)
	if err != nil {
		return fmt.Errorf("build the node controller: %w", err)
	}
	provider.registered = controller.Ready()
	go func() {
		select {
		case <-controller.Ready():
			klog.FromContext(ctx).Info("Node registered", "node", klog.KObj(desired))
			r.onRegistered()
		case <-ctx.Done():
		}
	}()
	if err := controller.Run(ctx); err != nil {
		return fmt.Errorf("run the node controller: %w", err)
	}
	return nil
}

// nodes creates Nodes with the host's identity.
func (r *registration) nodes() corev1client.NodeInterface {
	return hostNodes{r.client.CoreV1().Nodes(), r.hostID}
}

// recreate puts a Node back that someone has deleted. Every other error of a
// status update is returned: the next update tries again.
func (r *registration) recreate(ctx context.Context, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	n := r.status.current()
	klog.FromContext(ctx).Info("Node was deleted, registering it again", "node", klog.KObj(n))
	if _, err := r.nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register node %q again: %w", n.Name, err)
	}
	return nil
}
