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

// Publisher publishes one node's inventory. The package documentation says what
// it guarantees.
type Publisher struct {
	*publish.Publisher[Snapshot]
	advertiseAddr string
}

// NewPublisher returns a publisher, or an error that names everything wrong with
// the configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	return &Publisher{
		Publisher: &publish.Publisher[Snapshot]{
			Config: config.Config,
			Kind:   kind(config.Off),
			Source: &source{Collector: Collector{Sandboxd: config.Sandboxd, Claims: config.Claims}, config: config},
			// A cycle that takes longer would delay the next one.
			Deadline: min(publish.MaxCycle, config.Interval),
		},
		advertiseAddr: config.AdvertiseAddr,
	}, nil
}

// Run publishes until ctx ends, and then returns nil: a failed cycle is logged
// and the next one starts afresh. Start it when the Node is registered, or the
// first cycle publishes nothing. Run it once.
func (p *Publisher) Run(ctx context.Context) error {
	if onlyLocal(p.advertiseAddr) {
		p.Logger(ctx).Info("The published sandboxd address is of use on this host only; advertise one that other hosts reach for claims from elsewhere", "address", p.advertiseAddr)
	}
	return p.Publisher.Run(ctx)
}

// kind says what logs and hints call an inventory.
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
