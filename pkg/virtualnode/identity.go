// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// claimIdentity makes sure that the node name is ours to use, and returns the
// Node that an earlier run left, or nil. It waits for an API server that does
// not answer. The one error it ends with is a name that belongs to someone
// else: serving it would take over the Pods and the status of a foreign node.
func claimIdentity(ctx context.Context, nodes corev1client.NodeInterface, name string) (*corev1.Node, error) {
	logger := klog.FromContext(ctx)
	var published *corev1.Node
	err := retryDelays().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		n, err := nodes.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			logger.Error(err, "Cannot read the Node yet, will try again", "node", name)
			return false, nil
		}
		if err := checkOwn(n); err != nil {
			return false, err
		}
		published = n
		return true, nil
	})
	return published, err
}

// checkOwn returns an error when n is not a virtual node of this provider. A
// missing taint is not held against it: someone may have removed it.
func checkOwn(n *corev1.Node) error {
	advice := "choose a --node-name of its own for this virtual node, or delete that Node if it is a left-over"
	if n.Labels[labelType] != labelTypeVK {
		return fmt.Errorf("node %q already exists and is not a virtual node; %s", n.Name, advice)
	}
	for _, t := range n.Spec.Taints {
		if t.Key == podcontract.TaintKey && t.Value != podcontract.TaintValue {
			return fmt.Errorf("node %q already exists and belongs to the provider %q; %s", n.Name, t.Value, advice)
		}
	}
	return nil
}

// restoreTaint puts the provider taint back on a Node that has lost it. The
// node controller sets taints only on creation, and without this one any
// workload can be scheduled here.
func restoreTaint(ctx context.Context, nodes corev1client.NodeInterface, n *corev1.Node) error {
	want := providerTaint()
	for _, t := range n.Spec.Taints {
		if t.MatchTaint(&want) {
			return nil
		}
	}
	patch, err := json.Marshal(map[string]any{
		// Taints are replaced as a list: the version guards those of others.
		"metadata": map[string]any{"resourceVersion": n.ResourceVersion, "uid": n.UID},
		"spec":     map[string]any{"taints": append(n.Spec.Taints[:len(n.Spec.Taints):len(n.Spec.Taints)], want)},
	})
	if err != nil {
		return fmt.Errorf("encode the taint patch: %w", err)
	}
	if _, err := nodes.Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("restore the taint %s on node %q: %w", want.ToString(), n.Name, err)
	}
	return nil
}
