// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// NodeGetter returns the virtual node's Node. A recent copy suffices: a later cycle
// corrects one from before a re-creation.
type NodeGetter func() (*corev1.Node, error)

// read returns the Node. An error is a [*StepError].
func (get NodeGetter) read() (*corev1.Node, error) {
	node, err := get()
	if err != nil {
		hint := ""
		if apierrors.IsNotFound(err) {
			hint = "the virtual node is not registered yet; the next cycle looks again"
		}
		return nil, Failed("look up the Node", err, hint)
	}
	return node, nil
}

// Owner returns a reference to a Node by its UID: the object is deleted with its Node,
// not with a daemon's Pod.
func Owner(node *corev1.Node) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().
		WithAPIVersion("v1").
		WithKind("Node").
		WithName(node.Name).
		WithUID(node.UID)
}
