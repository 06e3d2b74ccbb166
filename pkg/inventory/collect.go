// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Sandboxd is the part of sandboxd's API that a [Collector] uses. An error means that
// there is no answer, never that there is nothing.
type Sandboxd interface {
	// List returns every sandbox in the node's index.
	List(ctx context.Context) ([]sandboxd.Sandbox, error)
	// Info returns the node's pools.
	Info(ctx context.Context) (sandboxd.Info, error)
}

// Snapshot is one reading of the node.
type Snapshot struct {
	// Entries are all sandboxes in sandboxd's index, and all claims of the table that are
	// not confirmed gone, ordered by name and id.
	Entries []*v1beta1.NodeEntryApplyConfiguration
	// Pools are all warm pools, ordered by key.
	Pools []*v1beta1.NodePoolApplyConfiguration
	// Warm is the number of warm microVMs in all pools.
	Warm int64
}

// Collector reads the node. sandboxd's index comes first, so that claims of other clients
// are listed; the claims table adds addresses, and claims missing from the index that are
// not confirmed gone. One goroutine uses a collector.
type Collector struct {
	Sandboxd Sandboxd
	Claims   Claims

	// last is the latest index row of each held claim, by id, so that an entry keeps its
	// template and phase while the index lacks it.
	last map[string]sandboxd.Sandbox
}

// Collect returns a complete snapshot, or an error if either read from sandboxd failed.
func (c *Collector) Collect(ctx context.Context) (Snapshot, error) {
	rows, err := c.Sandboxd.List(ctx)
	if err != nil {
		return Snapshot{}, publish.Failed("list the node's sandboxes", err, "")
	}
	info, err := c.Sandboxd.Info(ctx)
	if err != nil {
		return Snapshot{}, publish.Failed("read the node's pools", err, "")
	}
	// The table is read after the index, so that a claim made in between is listed, and
	// one confirmed gone in between is not added.
	held := c.Claims.Held()
	addresses := make(map[string]string, len(held))
	for _, h := range held {
		addresses[h.ID] = h.Address
	}

	var s Snapshot
	s.Entries = entries(c.complete(rows, held), addresses)
	s.Pools, s.Warm = pools(info.Pools)
	return s, nil
}
