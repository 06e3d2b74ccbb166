// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// startSpread bounds the delay before the first cycle.
	startSpread = 5 * time.Second
	// jitter is the part of an interval by which it may be longer. It is never
	// shorter, which is what makes one interval have at most one apply.
	jitter = 0.1
	// maxCycle bounds a cycle where the interval is longer.
	maxCycle = 30 * time.Second
)

// Publisher publishes one node's inventory. The package documentation says what
// it guarantees.
type Publisher struct {
	config Config

	// The rest belongs to the one goroutine in Run.
	collector Collector
	state     state
}

// NewPublisher returns a publisher, or an error that names everything wrong with
// the configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	return &Publisher{
		config:    config,
		collector: Collector{Sandboxd: config.Sandboxd, Claims: config.Claims},
	}, nil
}

// Run publishes until ctx ends, and then returns nil: a failed cycle is logged
// and the next one starts afresh. Start it when the Node is registered, or the
// first cycle publishes nothing. Run it once.
func (p *Publisher) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithName("inventory").WithValues("node", klog.KRef("", p.config.NodeName))
	ctx = klog.NewContext(ctx, logger)
	if onlyLocal(p.config.AdvertiseAddr) {
		logger.Info("The published sandboxd address is of use on this host only; set --sandboxd-advertise-addr for claims from elsewhere", "address", p.config.AdvertiseAddr)
	}

	select {
	case <-ctx.Done():
		return nil
	case <-time.After(rand.N(min(startSpread, p.config.Interval))):
	}
	wait.JitterUntilWithContext(ctx, p.cycle, p.config.Interval, jitter, false)
	return nil
}

func (p *Publisher) cycle(ctx context.Context) {
	deadline, cancel := context.WithTimeout(ctx, min(maxCycle, p.config.Interval))
	defer cancel()
	published, err := p.publish(deadline)
	if ctx.Err() != nil {
		return // stopping is not a failure
	}
	if p.config.Observe != nil {
		p.config.Observe(err)
	}
	p.state.report(klog.FromContext(ctx), time.Now(), published, err)
}
