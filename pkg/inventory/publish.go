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

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// resource is what hints say about an inventory.
var resource = nodeobject.Resource{Kind: "NodeInventory", Plural: "nodeinventories", Off: "--publish-inventory off"}

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
	node, err := nodeobject.ReadNode(p.config.Node)
	if err != nil {
		return publication{}, err
	}
	d, err := newDocument(p.inventory(snapshot, node), snapshot, MaxBytes)
	if err != nil {
		return publication{}, nodeobject.Failed("build the inventory", err, "")
	}
	if err := p.apply(ctx, d); err != nil {
		return publication{}, resource.ApplyFailure("apply the inventory", err)
	}
	return publication{entries: len(d.Entries), total: len(snapshot.Entries)}, nil
}

// inventory is everything but the lists.
func (p *Publisher) inventory(s Snapshot, node *corev1.Node) *v1beta1.NodeInventoryApplyConfiguration {
	return v1beta1.NodeInventory(p.config.NodeName).
		WithOwnerReferences(nodeobject.Owner(node)).
		WithNode(p.config.NodeName).
		WithAddress(p.config.AdvertiseAddr).
		WithPublishedAt(metav1.NewTime(time.Now())).
		WithTotalWarm(s.Warm).
		WithTotalEntries(int64(len(s.Entries)))
}

func (p *Publisher) apply(ctx context.Context, d document) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = p.config.Client.Patch(ctx, p.config.NodeName, types.ApplyPatchType, data, nodeobject.PatchOptions())
	return err
}
