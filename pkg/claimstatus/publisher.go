// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// startSpread bounds the delay before the first cycle.
	startSpread = 5 * time.Second
	// jitter is the part of an interval by which it may be longer. It is never
	// shorter.
	jitter = 0.1
	// settle is how long a change after a calm time is given for those that come
	// with it: a claim is recorded, and bound a moment later.
	settle = 500 * time.Millisecond
	// maxCycle bounds one cycle.
	maxCycle = 30 * time.Second
	// maxRetry bounds the time between two tries after failures in a row.
	maxRetry = 5 * time.Minute
)

// Publisher publishes how one node's claims stand. The package documentation
// says what it guarantees.
type Publisher struct {
	config    Config
	collector Collector
	seen      chan sight

	// The rest belongs to the one goroutine in Run.
	record record
	state  state
}

// NewPublisher returns a publisher, or an error that names everything wrong with
// the configuration.
func NewPublisher(config Config) (*Publisher, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("claim status: %w", err)
	}
	return &Publisher{
		config:    config,
		collector: Collector{Table: config.Table, Provider: config.Provider, Sandboxd: config.Sandboxd},
		seen:      make(chan sight),
	}, nil
}

// Run publishes until ctx ends, and then returns nil once its watch has ended.
// Start it when the Node is registered, or the first cycle publishes nothing.
// Run it once.
func (p *Publisher) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx).WithName("claimstatus").WithValues("node", klog.KRef("", p.config.NodeName))
	ctx = klog.NewContext(ctx, logger)
	var watching sync.WaitGroup
	defer watching.Wait()
	startWatch := sync.OnceFunc(func() { watching.Go(func() { p.watch(ctx) }) })

	p.pause(ctx, rand.N(min(startSpread, p.config.Interval)), false)
	retry := p.config.Interval
	for ctx.Err() == nil {
		wrote, err := p.cycle(ctx)
		switch {
		case err != nil:
			p.pause(ctx, wait.Jitter(retry, jitter), false)
			retry = min(2*retry, max(maxRetry, p.config.Interval))
		case wrote:
			startWatch()
			retry = p.config.Interval
			p.pause(ctx, wait.Jitter(p.config.Interval, jitter), false)
		default:
			// It is calm. What no signal tells of is found at the next turn.
			if p.pause(ctx, wait.Jitter(p.config.Interval, jitter), true) {
				p.pause(ctx, min(settle, p.config.Interval), false)
			}
		}
	}
	return nil
}

// pause waits for d. With wake set it returns true as soon as something may
// have changed. What the watch sees is noted in either case.
func (p *Publisher) pause(ctx context.Context, d time.Duration, wake bool) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	var changes <-chan struct{}
	if wake {
		changes = p.config.Table.Changes()
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-changes:
			return true
		case s := <-p.seen:
			if p.record.observe(s); wake && p.record.stale {
				return true
			}
		}
	}
}

// cycle publishes when something has changed, and reports how that went.
func (p *Publisher) cycle(ctx context.Context) (wrote bool, err error) {
	deadline, cancel := context.WithTimeout(ctx, maxCycle)
	defer cancel()
	published, err := p.publish(deadline)
	if ctx.Err() != nil {
		return false, nil // stopping is not a failure
	}
	if p.config.Observe != nil {
		p.config.Observe(err)
	}
	if err != nil || published != nil {
		p.state.report(klog.FromContext(ctx), time.Now(), published, err)
	}
	return published != nil, err
}
