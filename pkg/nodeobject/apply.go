// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// FieldManager owns the fields of a node's objects (architecture: "field owner
// vk-sandbox").
const FieldManager = "vk-sandbox"

// PatchOptions are those of an apply. It takes the fields by force: the node is
// the only authority for them, whoever wrote them last.
func PatchOptions() metav1.PatchOptions {
	force := true
	return metav1.PatchOptions{FieldManager: FieldManager, Force: &force}
}

// Owner refers to a Node by its UID: an object goes with its Node, and not when
// a daemon's Pod does.
func Owner(node *corev1.Node) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().
		WithAPIVersion("v1").
		WithKind("Node").
		WithName(node.Name).
		WithUID(node.UID)
}
