// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// observeInterval is how often the conditions and the Node's existence are checked. It is
// the kubelet's interval, and well below the 40 seconds after which the Pods of a missing
// Node are garbage-collected.
const observeInterval = 10 * time.Second

// nodeProvider implements virtual-kubelet's NodeProvider for one run of the
// node controller.
type nodeProvider struct {
	status     *nodeStatus
	conditions func() []metav1.Condition
	recorder   record.EventRecorder
	node       *Informer
	restorer   restorer
	// registered is closed when the node controller accepts updates.
	registered <-chan struct{}
}

// Ping implements virtual-kubelet's NodeProvider. It never fails: a failing
// ping stops the lease, and NotReady starts the eviction of Pods whose
// microVMs run. It only reports that the process is alive.
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
		case <-p.status.capacityChanged:
			if ctx.Err() == nil {
				update(p.status.current())
			}
			continue
		case <-ticker.C:
		}
		updateDue := false
		for _, c := range p.conditions() {
			changed, transitioned := p.status.observe(c, time.Now())
			if transitioned {
				p.recordTransition(ctx, c)
			}
			updateDue = updateDue || changed
		}
		// An update makes the controller re-create a missing Node, and makes a given-up
		// Node Ready again up to a minute sooner than the controller would.
		if (updateDue || p.node.missing() || p.node.givenUp()) && ctx.Err() == nil {
			update(p.status.current())
		}
		p.restorer.reconcile(ctx, p.status.current())
	}
}

// recordTransition logs a condition whose status changed, and records an event.
func (p *nodeProvider) recordTransition(ctx context.Context, c metav1.Condition) {
	klog.FromContext(ctx).Info("Node condition changed", "condition", c.Type, "status", c.Status, "reason", c.Reason, "message", c.Message)
	kind := corev1.EventTypeNormal
	if c.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	// kubectl finds a node's events by this UID, as the kubelet records them.
	name := p.status.current().Name
	p.recorder.Event(&corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name, UID: types.UID(name)}, kind, c.Reason, c.Message)
}
