// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"

	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// Kind is the kind of the published object.
const Kind = "NodeInventory"

// Publisher publishes one node's inventory. Its guarantees are in the package
// documentation.
type Publisher struct {
	*publish.Publisher[Snapshot]
	advertiseAddr string
}

// NewPublisher returns a publisher. Its error lists everything wrong with the
// configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	return &Publisher{
		Publisher: &publish.Publisher[Snapshot]{
			Config: config.Config,
			Kind:   kind(config.Off),
			Source: &source{Collector: Collector{Sandboxd: config.Sandboxd, Claims: config.Claims}, config: config},
			// A longer cycle would delay the next one.
			Deadline: min(publish.MaxCycle, config.Interval),
		},
		advertiseAddr: config.AdvertiseAddr,
	}, nil
}

// Run publishes until ctx ends, and then returns nil. A failed cycle is logged and the
// next one starts anew. Start it after the Node is registered; before that, the first
// cycle publishes nothing. Run it once.
func (p *Publisher) Run(ctx context.Context) error {
	if onlyLocal(p.advertiseAddr) {
		p.Logger(ctx).Info("The published sandboxd address works on this host only; advertise one that other hosts can reach if they are to make claims here", "address", p.advertiseAddr)
	}
	return p.Publisher.Run(ctx)
}

// kind describes inventories for logs and hints.
func kind(off string) publish.Kind {
	return publish.Kind{
		Name: Kind, Plural: "nodeinventories", Off: off,
		Logger: "inventory", Items: "entries", MaxBytes: MaxBytes,
		Messages: publish.Messages{
			Published: "Inventory published",
			Failed:    "Inventory not published; the last published copy stays and the next cycle tries again",
			Recovered: "Inventory is published again",
			Truncated: "Inventory does not hold all sandboxes; the others run, and are left out to keep the object within its size limit",
			Complete:  "Inventory holds all sandboxes again",
		},
	}
}
