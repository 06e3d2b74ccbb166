// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// restoreInterval is the minimum time between two restores. Together with observeInterval
// it restores a removed field within a minute, and limits the writes to two a minute if
// someone keeps removing it.
const restoreInterval = 30 * time.Second

// lost returns the fields of this host's virtual node that n lacks: the provider taint,
// the labels of desired, and the host's id. Everything else on the Node belongs to
// others, for example a cordon.
func lost(n, desired *corev1.Node, hostID string) nodePatch {
	p := nodePatch{labels: map[string]string{}, annotations: map[string]string{}}
	for key, value := range desired.Labels {
		if now, ok := n.Labels[key]; !ok || now != value {
			p.labels[key] = value
		}
	}
	if hostID != "" && n.Annotations[AnnotationHostID] == "" {
		p.annotations[AnnotationHostID] = hostID
	}
	want := providerTaint()
	if i := slices.IndexFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&want) }); i < 0 {
		p.taints = append(slices.Clone(n.Spec.Taints), want)
	} else if n.Spec.Taints[i].Value != want.Value {
		p.taints = slices.Clone(n.Spec.Taints)
		p.taints[i].Value = want.Value
	}
	return p
}

// restore restores the lost fields of n, and reports whether there were any. The
// library's controller sets taints only on creation, and without the taint any workload
// can be scheduled here. If others have changed the Node since n was read, nothing is
// written and the error is a conflict.
func restore(ctx context.Context, nodes corev1client.NodeInterface, n, desired *corev1.Node, hostID string) (bool, error) {
	p := lost(n, desired, hostID)
	if len(p.labels)+len(p.annotations)+len(p.taints) == 0 || otherHost(n, hostID) != "" {
		return false, nil
	}
	if _, err := patchNode(ctx, nodes, n, p); err != nil {
		return true, fmt.Errorf("restore the taint, the labels or the host's identity of node %q: %w", n.Name, err)
	}
	klog.FromContext(ctx).Info("Restored what the Node had lost", "node", klog.KObj(n), "taint", len(p.taints) > 0,
		"labels", slices.Sorted(maps.Keys(p.labels)), "hostID", len(p.annotations) > 0)
	return true, nil
}

// restorer restores a Node that is watched, at a bounded rate.
type restorer struct {
	nodes  corev1client.NodeInterface
	node   *Informer
	hostID string

	tried  time.Time
	failed string
}

// reconcile restores the fields that the watch shows to be lost. A failed restore is
// tried again later, and logged if the error is new. A conflict is no failure: the watch
// lags behind.
func (r *restorer) reconcile(ctx context.Context, desired *corev1.Node) {
	n, err := r.node.Get()
	if err != nil || time.Since(r.tried) < restoreInterval {
		return // a missing Node is registered again, with all of it
	}
	tried, err := restore(ctx, r.nodes, n, desired, r.hostID)
	if !tried || apierrors.IsConflict(err) {
		return
	}
	r.tried = time.Now()
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	if failed != "" && failed != r.failed {
		klog.FromContext(ctx).Error(err, "Ordinary workloads may be scheduled to this node")
	}
	r.failed = failed
}
