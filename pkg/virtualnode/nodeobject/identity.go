// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// NameTakenError means that the node's name belongs to another node or to another host.
// Serving it would take over the Pods and the status of that node.
type NameTakenError struct{ Err error }

// Error implements error.
func (e *NameTakenError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NameTakenError) Unwrap() error { return e.Err }

// claimIdentity verifies that this host may use the node name, and returns the Node of an
// earlier run, or nil. The Node then carries hostID, unless that is empty. It waits for
// an API server that does not answer, and for the lease of another host to lapse. While
// its context lasts, its only error is a [NameTakenError].
func claimIdentity(ctx context.Context, client kubernetes.Interface, name, hostID string) (*corev1.Node, error) {
	logger := klog.FromContext(ctx)
	nodes := client.CoreV1().Nodes()
	var published *corev1.Node
	// lapsed is the Node and the host whose lease has lapsed. If the Node has changed
	// meanwhile, no second wait is needed.
	var lapsed string
	err := retryDelays().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		n, err := nodes.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			logger.Error(err, "Cannot read the Node yet, will try again", "node", name)
			lapsed = ""
			return false, nil
		}
		if err := checkOwn(n, hostID); err != nil {
			return false, err
		}
		other := otherHost(n, hostID)
		if holder := string(n.UID) + "/" + other; other != "" && lapsed != holder {
			if err := awaitLapse(ctx, client, n, other); err != nil {
				return false, err
			}
			lapsed = holder
			return false, nil
		}
		marked, err := markHost(ctx, nodes, n, hostID)
		switch {
		case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
			return false, nil // changed since it was read; read it again
		case err != nil:
			logger.Error(err, "Node does not carry this host's identity yet, will try again", "node", name)
			lapsed = ""
			return false, nil
		}
		if other != "" {
			logger.Info("Took the Node over from a host that no longer renews its lease", "node", name, "host", hostID, "previousHost", other)
		}
		published = marked
		return true, nil
	})
	return published, err
}

// checkOwn returns an error if n is not a virtual node of this provider. A Node with this
// host's id always is, because only this host's daemon writes that. The taint may be
// missing, because someone may have removed it.
func checkOwn(n *corev1.Node, hostID string) error {
	if hostID != "" && n.Annotations[AnnotationHostID] == hostID {
		return nil
	}
	advice := "choose a name of its own for this virtual node, or delete that Node if it is a left-over"
	if n.Labels[labelType] != labelTypeVK {
		return &NameTakenError{fmt.Errorf("node %q already exists and is not a virtual node; %s", n.Name, advice)}
	}
	for _, t := range n.Spec.Taints {
		if t.Key == podcontract.TaintKey && t.Value != podcontract.TaintValue {
			return &NameTakenError{fmt.Errorf("node %q already exists and belongs to the provider %q; %s", n.Name, t.Value, advice)}
		}
	}
	return nil
}
