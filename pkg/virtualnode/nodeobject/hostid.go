// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// AnnotationHostID is the id of the host that serves the Node. A Node of a build without
// host ids lacks it.
//
// It is not part of the Node that the library's controller keeps writing: a former host
// that returns would otherwise write its own id with every heartbeat. It is written when
// the Node is created, when it is taken over, and when it is missing.
const AnnotationHostID = "sandbox.cocoonstack.io/host-id"

// otherHost returns the id of the host that serves n; empty if that is this host or none.
// If this host's id is not known, any id may be its own.
func otherHost(n *corev1.Node, hostID string) string {
	if id := n.Annotations[AnnotationHostID]; hostID != "" && id != hostID {
		return id
	}
	return ""
}

// markHost writes hostID to n, and returns the written Node. The write applies only to
// the version that was read, so it never overwrites the id of another host.
func markHost(ctx context.Context, nodes corev1client.NodeInterface, n *corev1.Node, hostID string) (*corev1.Node, error) {
	holder := n.Annotations[AnnotationHostID]
	switch {
	case holder == hostID:
		return n, nil
	case hostID == "":
		klog.FromContext(ctx).Info("Node carries the identity of a host, and that of this host is not known; serving it", "node", klog.KObj(n), "host", holder)
		return n, nil
	}
	marked, err := patchNode(ctx, nodes, n, nodePatch{annotations: map[string]string{AnnotationHostID: hostID}})
	if err != nil {
		return nil, fmt.Errorf("write the host's identity to node %q; the service account needs patch on nodes: %w", n.Name, err)
	}
	return marked, nil
}

// nodePatch is a patch of a Node. Empty parts are not changed.
type nodePatch struct {
	annotations, labels map[string]string
	// taints are the complete list, because the API server replaces it.
	taints []corev1.Taint
}

// patchNode applies p to n. It fails with a conflict if n is no longer as it was read.
func patchNode(ctx context.Context, nodes corev1client.NodeInterface, n *corev1.Node, p nodePatch) (*corev1.Node, error) {
	metadata := map[string]any{"resourceVersion": n.ResourceVersion, "uid": n.UID}
	if len(p.annotations) > 0 {
		metadata["annotations"] = p.annotations
	}
	if len(p.labels) > 0 {
		metadata["labels"] = p.labels
	}
	content := map[string]any{"metadata": metadata}
	if len(p.taints) > 0 {
		content["spec"] = map[string]any{"taints": p.taints}
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode the node's patch: %w", err)
	}
	return nodes.Patch(ctx, n.Name, types.StrategicMergePatchType, encoded, metav1.PatchOptions{})
}

// hostNodes creates Nodes with the host's identity.
type hostNodes struct {
	corev1client.NodeInterface
	hostID string
}

// Create implements corev1client.NodeInterface.
func (h hostNodes) Create(ctx context.Context, n *corev1.Node, options metav1.CreateOptions) (*corev1.Node, error) {
	if h.hostID != "" {
		n = n.DeepCopy()
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, AnnotationHostID, h.hostID)
	}
	return h.NodeInterface.Create(ctx, n, options)
}
