// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// resource is what hints say about a claim status.
var resource = nodeobject.Resource{
	Kind: "NodeClaimStatus", Plural: "nodeclaimstatuses and nodeclaimstatuses/status", Off: "it off with --claim-status-interval=0",
}

// publication is what one cycle published.
type publication struct {
	rows      int
	truncated int64
	// repaired is true when someone else had changed or deleted the object.
	repaired bool
}

// publish runs one cycle. It returns nil when nothing has changed since what was
// published last.
func (p *Publisher) publish(ctx context.Context) (*publication, error) {
	if err := p.read(ctx); err != nil {
		return nil, nodeobject.Failed("read the claim status", err, "")
	}
	status := p.collector.Collect()
	keepTransitions(status.Conditions, p.record.conditions, *timeOf(time.Now()))
	d, err := newDocument(v1alpha1.NodeClaimStatus(p.config.NodeName), status, MaxBytes)
	if err != nil {
		return nil, nodeobject.Failed("build the claim status", err, "")
	}
	content, err := d.Status.digest()
	if err != nil {
		return nil, nodeobject.Failed("build the claim status", err, "")
	}
	node, err := nodeobject.ReadNode(p.config.Node)
	if !p.record.changed(content) && (err != nil || ownedBy(p.record.stored, node.UID)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.WithOwnerReferences(nodeobject.Owner(node))
	d.Status.LastPublishedTime = timeOf(time.Now())
	known := p.record.stored != nil
	err = p.apply(ctx, node, d)
	if known && apierrors.IsNotFound(err) {
		// It was deleted, and the watch has not told yet.
		p.record.stored = nil
		err = p.apply(ctx, node, d)
	}
	if err != nil {
		return nil, err
	}
	done := &publication{rows: len(d.Status.Claims), truncated: *d.Status.TruncatedCount, repaired: p.record.stale}
	p.record.published(content, d.Status.Conditions)
	return done, nil
}

// read reads the object where it is needed: once for the transition times of the
// conditions that an earlier run has left, and when it is doubtful what the API
// server has. It asks for the present state, not for a cached one.
func (p *Publisher) read(ctx context.Context) error {
	if p.record.recalled && !p.record.doubtful {
		return nil
	}
	// Without the object, or the CRD, the apply tells which it is.
	object, err := p.config.Client.Get(ctx, p.config.NodeName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		object = nil
	case err != nil:
		return err
	}
	if p.record.doubtful {
		p.record.confirm(object)
	}
	if !p.record.recalled && object != nil {
		p.record.conditions = object.Status.Conditions
	}
	p.record.recalled = true
	return nil
}

// apply writes the object, if it is new or has another owner, and its status:
// an API server takes the status by itself only.
func (p *Publisher) apply(ctx context.Context, node *corev1.Node, d document) error {
	if !ownedBy(p.record.stored, node.UID) {
		stored, err := p.patch(ctx, d.NodeClaimStatusApplyConfiguration)
		if err != nil {
			return resource.ApplyFailure("apply the claim status object", err)
		}
		p.record.stored = stored
	}
	stored, err := p.patch(ctx, d, "status")
	if err != nil {
		return resource.ApplyFailure("apply the claim status", err)
	}
	p.record.stored = stored
	return nil
}

func (p *Publisher) patch(ctx context.Context, object any, subresources ...string) (*api.NodeClaimStatus, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return p.config.Client.Patch(ctx, p.config.NodeName, types.ApplyPatchType, data, nodeobject.PatchOptions(), subresources...)
}

func ownedBy(object *api.NodeClaimStatus, uid types.UID) bool {
	if object == nil {
		return false
	}
	for _, owner := range object.OwnerReferences {
		if owner.UID == uid {
			return true
		}
	}
	return false
}
