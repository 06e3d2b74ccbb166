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
	// settle is how long a change after an idle time is given for those that come
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

	p.pause(ctx, rand.N(min(startSpread, p.config.Interval)), nil, nil)
	retry := p.config.Interval
	for ctx.Err() == nil {
		wrote, err := p.cycle(ctx)
		switch {
		case err != nil:
			p.backOff(ctx, retry)
			retry = min(2*retry, max(maxRetry, p.config.Interval))
		case wrote:
			startWatch()
			retry = p.config.Interval
			p.pause(ctx, wait.Jitter(p.config.Interval, jitter), nil, nil)
		default:
			retry = p.config.Interval
			p.idle(ctx)
		}
	}
	return nil
}

// idle waits until something may have changed; what nothing signals is found by
// the next periodic pass.
func (p *Publisher) idle(ctx context.Context) {
	differs := func() bool { return p.record.stale || p.record.doubtful }
	woken := p.pause(ctx, wait.Jitter(p.config.Interval, jitter), differs, p.config.Table.Changes())
	if woken && !differs() {
		p.pause(ctx, min(settle, p.config.Interval), nil, nil)
	}
}

// backOff waits after a failure, for at least an interval. It ends early when the
// watch gets an answer: the API server can be reached again.
func (p *Publisher) backOff(ctx context.Context, retry time.Duration) {
	p.record.answered = false
	answered := func() bool { return p.record.answered }
	p.pause(ctx, wait.Jitter(p.config.Interval, jitter), nil, nil)
	if rest := retry - p.config.Interval; rest > 0 && !answered() {
		p.pause(ctx, wait.Jitter(rest, jitter), answered, nil)
	}
}

// pause waits for d. It returns true as soon as changed receives, or the watch has
// seen something after which ready holds. Either may be nil. What the watch sees
// is noted in any case.
func (p *Publisher) pause(ctx context.Context, d time.Duration, ready func() bool, changed <-chan struct{}) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-changed:
			return true
		case s := <-p.seen:
			if p.record.observe(s); ready != nil && ready() {
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
