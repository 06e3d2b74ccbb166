// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
)

// publisher keeps an object of the node up to date until its context ends.
type publisher interface {
	Run(ctx context.Context) error
}

// newPublishers returns those that are on.
func newPublishers(o *options, kube *clients, ownNode nodeobject.NodeGetter, node provider.Sandboxd, table *claims.Table, lifecycle *provider.Provider, m *metrics.Metrics) ([]publisher, error) {
	var on []publisher
	if o.claimStatusInterval > 0 {
		p, err := claimstatus.NewPublisher(claimstatus.Config{
			NodeName: o.nodeName,
			Interval: o.claimStatusInterval,
			Table:    table,
			Provider: lifecycle,
			Sandboxd: func() claimstatus.Reachability {
				r := sandboxdReachable(lifecycle.Reach())
				return claimstatus.Reachability{Status: metav1.ConditionStatus(r.Status), Reason: r.Reason, Message: r.Message}
			},
			Client:  kube.objects.SandboxV1alpha1().NodeClaimStatuses(),
			Node:    ownNode,
			Observe: m.Published(metrics.NodeClaimStatus),
		})
		if err != nil {
			return nil, fmt.Errorf("--claim-status-interval: %w", err)
		}
		on = append(on, p)
	}
	if o.publishInventory {
		p, err := inventory.NewPublisher(inventory.Config{
			NodeName:      o.nodeName,
			Interval:      o.publishInterval,
			AdvertiseAddr: o.sandboxdAdvertiseAddr,
			Sandboxd:      node,
			Claims:        addresses{table},
			Client:        kube.objects.SandboxV1beta1().NodeInventories(),
			Node:          ownNode,
			Observe:       m.Published(metrics.NodeInventory),
		})
		if err != nil {
			return nil, fmt.Errorf("--publish-inventory: %w", err)
		}
		on = append(on, p)
	}
	return on, nil
}

// addresses is the claims table as the inventory reads it.
type addresses struct{ table *claims.Table }

// Addresses implements inventory.Claims.
func (a addresses) Addresses() map[string]string {
	byID := map[string]string{}
	for _, c := range a.table.List() {
		byID[c.ID] = c.Address
	}
	return byID
}
