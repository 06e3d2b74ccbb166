// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Sandboxd is what a [Collector] asks of the node's sandboxd. An error means
// that the question was not answered, and never that there is nothing.
type Sandboxd interface {
	// List returns every sandbox in the node's index.
	List(ctx context.Context) ([]sandboxd.Sandbox, error)
	// Info returns the node's pools.
	Info(ctx context.Context) (sandboxd.Info, error)
}

// Claims knows where the node's own claims are served.
type Claims interface {
	// Addresses returns the host:port of each claim in the claims table, by
	// sandboxd claim id. The caller may keep the map.
	Addresses() map[string]string
}

// Snapshot is one reading of the node.
type Snapshot struct {
	// Entries are all sandboxes in sandboxd's index, ordered by name and id.
	Entries []*v1beta1.NodeEntryApplyConfiguration
	// Pools are all warm pools, ordered by key.
	Pools []*v1beta1.NodePoolApplyConfiguration
	// Warm is the number of warm microVMs in all pools.
	Warm int64
}

// Collector reads the node. sandboxd's index decides what is listed, so that
// claims made by others are there and a claim whose microVM is gone is not; the
// claims table adds addresses (architecture).
type Collector struct {
	Sandboxd Sandboxd
	Claims   Claims
}

// Collect returns a complete snapshot, or an error when sandboxd left either
// question unanswered.
func (c Collector) Collect(ctx context.Context) (Snapshot, error) {
	rows, err := c.Sandboxd.List(ctx)
	if err != nil {
		return Snapshot{}, nodeobject.Failed("list the node's sandboxes", err, "")
	}
	info, err := c.Sandboxd.Info(ctx)
	if err != nil {
		return Snapshot{}, nodeobject.Failed("read the node's pools", err, "")
	}
	// The table is read after the index: a claim that was made in between is
	// then without its row, not a row without its address.
	addresses := c.Claims.Addresses()

	var s Snapshot
	s.Entries = entries(rows, addresses)
	s.Pools, s.Warm = pools(info.Pools)
	return s, nil
}
