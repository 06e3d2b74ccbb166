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

// Publisher publishes the state of one node's claims. Its guarantees are in the package
// documentation.
type Publisher struct {
	*publish.Publisher[content]
	source *source
}

// source implements [publish.Source].
type source struct {
	config    Config
	collector Collector
	seen      chan observation
	watchOnce sync.Once
	watching  sync.WaitGroup

	// Only the goroutine that calls the source uses the fields below.
	record record
	retry  time.Duration // delay after the next failure
}

// NewPublisher returns a publisher. Its error lists everything wrong with the
// configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("claim status: %w", err)
	}
	s := &source{
		config:    config,
		collector: Collector{Table: config.Table, Provider: config.Provider},
		seen:      make(chan observation),
	}
	return &Publisher{
		Publisher: &publish.Publisher[content]{Config: config.Config, Kind: kind(config.Off), Source: s, Deadline: publish.MaxCycle},
		source:    s,
	}, nil
}

// Run publishes until ctx ends, and then returns nil once its watch has ended. Start it
// after the Node is registered; before that, the first cycle publishes nothing. Run it
// once.
func (p *Publisher) Run(ctx context.Context) error {
	defer p.source.watching.Wait()
	return p.Publisher.Run(ctx)
}

// kind describes claim statuses for logs and hints.
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
