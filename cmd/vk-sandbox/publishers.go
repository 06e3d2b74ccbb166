// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// publisher keeps an object of the node up to date until its context ends.
type publisher interface {
	Run(ctx context.Context) error
}

// newPublishers returns the enabled publishers.
func newPublishers(o *options, kube *clients, ownNode publish.NodeGetter, node provider.Sandboxd, table *claims.Table, lifecycle *provider.Provider, m *publish.Metrics) ([]publisher, error) {
	var on []publisher
	if o.claimStatusInterval > 0 {
		p, err := claimstatus.NewPublisher(claimstatus.Config{
			Config: publish.Config{
				NodeName: o.nodeName, Interval: o.claimStatusInterval, Node: ownNode, Observe: m.Observe(claimstatus.Kind),
				Off: "turn it off with --claim-status-interval=0",
			},
			Table:    table,
			Provider: lifecycle,
			Client:   kube.objects.SandboxV1alpha1().NodeClaimStatuses(),
		})
		if err != nil {
			return nil, fmt.Errorf("--claim-status-interval: %w", err)
		}
		on = append(on, p)
	}
	if o.publishInventory {
		p, err := inventory.NewPublisher(inventory.Config{
			Config: publish.Config{
				NodeName: o.nodeName, Interval: o.publishInterval, Node: ownNode, Observe: m.Observe(inventory.Kind),
				Off: "turn it off with --publish-inventory=false",
			},
			AdvertiseAddr: o.sandboxdAdvertiseAddr,
			Sandboxd:      node,
			Claims:        heldClaims{table: table, ended: lifecycle.Ended},
			Client:        kube.objects.SandboxV1beta1().NodeInventories(),
		})
		if err != nil {
			return nil, fmt.Errorf("--publish-inventory: %w", err)
		}
		on = append(on, p)
	}
	return on, nil
}

// claimLists is the part of the claims table that the inventory needs.
type claimLists interface {
	List() []claims.Claim
	Releasing() []claims.Claim
}

// heldClaims adapts the claims table to the inventory.
type heldClaims struct {
	table claimLists
	// ended reports whether the claim's Pod has ended because its sandbox is
	// confirmed gone.
	ended func(claims.Claim) bool
}

// Held implements inventory.Claims. A claim in the releasing list is always held, because
// its row is dropped once sandboxd has confirmed the release. That list is read last, so
// that a claim that moves there meanwhile is returned twice and not missed.
func (h heldClaims) Held() []inventory.Held {
	var out []inventory.Held
	for _, c := range h.table.List() {
		if !h.ended(c) {
			out = append(out, heldClaim(c))
		}
	}
	for _, c := range h.table.Releasing() {
		out = append(out, heldClaim(c))
	}
	return out
}

func heldClaim(c claims.Claim) inventory.Held {
	return inventory.Held{ID: c.ID, Key: c.Key, Address: c.Address, ClaimedAt: c.ClaimedAt, Deadline: c.Deadline}
}
