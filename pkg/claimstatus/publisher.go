// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// Kind is the kind of the published object.
const Kind = "NodeClaimStatus"

// Publisher publishes how one node's claims stand. The package documentation
// says what it guarantees.
type Publisher struct {
	*publish.Publisher[content]
	source *source
}

// source implements [publish.Source].
type source struct {
	config    Config
	collector Collector
	seen      chan sight
	watchOnce sync.Once
	watching  sync.WaitGroup

	// The rest belongs to the one goroutine that calls the source.
	record record
	retry  time.Duration // until the try after the next failure
}

// NewPublisher returns a publisher, or an error that names everything wrong with
// the configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("claim status: %w", err)
	}
	s := &source{
		config:    config,
		collector: Collector{Table: config.Table, Provider: config.Provider},
		seen:      make(chan sight),
	}
	return &Publisher{
		Publisher: &publish.Publisher[content]{Config: config.Config, Kind: kind(config.Off), Source: s, Deadline: publish.MaxCycle},
		source:    s,
	}, nil
}

// Run publishes until ctx ends, and then returns nil once its watch has ended.
// Start it when the Node is registered, or the first cycle publishes nothing.
// Run it once.
func (p *Publisher) Run(ctx context.Context) error {
	defer p.source.watching.Wait()
	return p.Publisher.Run(ctx)
}

// kind says what logs and hints call a claim status.
func kind(off string) publish.Kind {
	return publish.Kind{
		Name: Kind, Plural: "nodeclaimstatuses and nodeclaimstatuses/status", Off: off,
		Logger: "claimstatus", Items: "claims", MaxBytes: MaxBytes,
		Messages: publish.Messages{
			Published: "Claim status published",
			Failed:    "Claim status not published; the last published copy stays, and it is tried again",
			Recovered: "Claim status is published again",
			Repaired:  "Claim status was changed or deleted by someone else; it is published again",
			Truncated: "Claim status does not show all claims; the others are held, and are left out to keep the object within its size limit",
			Complete:  "Claim status shows all claims again",
		},
	}
}
