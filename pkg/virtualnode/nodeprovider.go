// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// observeInterval is how often sandboxd's state and the Node's existence are
// looked at. It is the kubelet's own cadence, and well inside the 40 seconds
// after which the Pods of a missing Node are garbage-collected.
const observeInterval = 10 * time.Second

// nodeProvider implements virtual-kubelet's NodeProvider for one run of the
// node controller.
type nodeProvider struct {
	status   *nodeStatus
	sandboxd func() Reachability
	nodes    corev1client.NodeInterface
	// registered is closed when the node controller takes updates.
	registered <-chan struct{}
}

// Ping implements virtual-kubelet's NodeProvider. It never fails: a failing
// ping stops the lease, and NotReady starts the eviction of Pods whose
// microVMs run. That the daemon lives is all that it vouches for.
func (p *nodeProvider) Ping(context.Context) error { return nil }

// NotifyNodeStatus implements virtual-kubelet's NodeProvider. Updates come
// from a goroutine of their own, because the callback blocks once the node
// controller has stopped.
func (p *nodeProvider) NotifyNodeStatus(ctx context.Context, update func(*corev1.Node)) {
	go p.observe(ctx, update)
}

func (p *nodeProvider) observe(ctx context.Context, update func(*corev1.Node)) {
	select {
	case <-ctx.Done():
		return
	case <-p.registered:
	}
	ticker := time.NewTicker(observeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r := p.sandboxd()
		changed := p.status.observe(r, time.Now())
		if changed {
			klog.FromContext(ctx).Info("sandboxd changed state", "reachable", r.Status, "reason", r.Reason, "message", r.Message)
		}
		// An update for a missing Node is what makes the controller notice
		// and re-create it, a minute before it would by itself.
		if (changed || p.missing(ctx)) && ctx.Err() == nil {
			update(p.status.current())
		}
	}
}

// missing reports whether the API server is sure that the Node is not there.
// The watch cache answers; any error means that nothing is known.
func (p *nodeProvider) missing(ctx context.Context) bool {
	_, err := p.nodes.Get(ctx, p.status.current().Name, metav1.GetOptions{ResourceVersion: "0"})
	return apierrors.IsNotFound(err)
}
