// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
)

// fieldManager owns the fields of an inventory (architecture: "field owner
// vk-sandbox").
const fieldManager = "vk-sandbox"

// publication is what one cycle published.
type publication struct {
	entries, total int
}

// publish runs one cycle: read the node, read the Node, apply.
func (p *Publisher) publish(ctx context.Context) (publication, error) {
	snapshot, err := p.collector.Collect(ctx)
	if err != nil {
		return publication{}, err
	}
	// Any recent copy will do, so the API server may answer from its cache. A
	// copy from before a re-creation is made good by the next cycle.
	node, err := p.config.Nodes.Get(ctx, p.config.NodeName, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return publication{}, failed(stepNode, err)
	}
	d, err := newDocument(p.inventory(snapshot, node), snapshot, MaxBytes)
	if err != nil {
		return publication{}, failed(stepBuild, err)
	}
	if err := p.apply(ctx, d); err != nil {
		return publication{}, failed(stepApply, err)
	}
	return publication{entries: len(d.Entries), total: len(snapshot.Entries)}, nil
}

// inventory is everything but the lists.
func (p *Publisher) inventory(s Snapshot, node *corev1.Node) *v1beta1.NodeInventoryApplyConfiguration {
	owner := applymetav1.OwnerReference().
		WithAPIVersion("v1").
		WithKind("Node").
		WithName(node.Name).
		WithUID(node.UID)
	return v1beta1.NodeInventory(p.config.NodeName).
		WithOwnerReferences(owner).
		WithAddress(p.config.AdvertiseAddr).
		WithPublishedAt(metav1.NewTime(time.Now())).
		WithTotalWarm(s.Warm).
		WithTotalEntries(int64(len(s.Entries)))
}

// apply takes the fields by force: the node is the only authority for them,
// whoever wrote them last.
func (p *Publisher) apply(ctx context.Context, d document) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	force := true
	options := metav1.PatchOptions{FieldManager: fieldManager, Force: &force}
	_, err = p.config.Client.Patch(ctx, p.config.NodeName, types.ApplyPatchType, data, options)
	return err
}
