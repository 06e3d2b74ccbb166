// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// StartSpread bounds the random delay before the first cycle, so that a fleet
	// restarted together does not write together.
	StartSpread = 5 * time.Second
	// MaxCycle bounds a cycle.
	MaxCycle = 30 * time.Second
	// jitter is the fraction by which an interval may be longer. It is never shorter, so
	// that there is at most one publication in an interval.
	jitter = 0.1
)

// Source is one kind of object about the node. One goroutine calls its methods. Errors
// should be a [*StepError].
type Source[D any] interface {
	// Collect reads the node.
	Collect(ctx context.Context) (D, error)
	// Changed reports whether collected must be written. owner is the UID of the current
	// Node; empty if it cannot be read.
	Changed(collected D, owner types.UID) bool
	// Apply writes what was collected, within the size limit of the kind, as an object
	// owned by the Node.
	Apply(ctx context.Context, collected D, node *corev1.Node) (Publication, error)
	// Wait returns when the next cycle is due or ctx ends.
	Wait(ctx context.Context, last Cycle)
}

// Publication is what one cycle wrote.
type Publication struct {
	// Items is the number of items in the object, Total the number that exist.
	Items, Total int
	// Repaired is true if someone else had changed or deleted the object.
	Repaired bool
}

// Cycle is the result of a cycle.
type Cycle struct {
	Began time.Time
	// Wrote is false if nothing had changed, and after a failure.
	Wrote bool
	Err   error
}

// Publisher publishes what a source collects.
type Publisher[D any] struct {
	Config Config
	Kind   Kind
	Source Source[D]
	// Deadline bounds one cycle.
	Deadline time.Duration

	// state belongs to the goroutine in Run.
	state state
}

// Run publishes until ctx ends, and then returns nil. A failed cycle is logged and a
// later one tries again. Start it after the Node is registered; before that, the first
// cycle publishes nothing. Run it once.
func (p *Publisher[D]) Run(ctx context.Context) error {
	ctx = klog.NewContext(ctx, p.Logger(ctx))
	Sleep(ctx, rand.N(min(StartSpread, p.Config.Interval)))
	for ctx.Err() == nil {
		p.Source.Wait(ctx, p.cycle(ctx))
	}
	return nil
}

// Logger returns the logger that Run uses.
func (p *Publisher[D]) Logger(ctx context.Context) klog.Logger {
	return klog.FromContext(ctx).WithName(p.Kind.Logger).WithValues("node", klog.KRef("", p.Config.NodeName))
}

// cycle runs one cycle within the deadline, and observes and logs the result.
func (p *Publisher[D]) cycle(ctx context.Context) Cycle {
	began := time.Now()
	deadline, cancel := context.WithTimeout(ctx, p.Deadline)
	defer cancel()
	published, err := p.Publish(deadline)
	if ctx.Err() != nil {
		return Cycle{Began: began} // stopping is not a failure
	}
	if p.Config.Observe != nil {
		p.Config.Observe(err)
	}
	switch {
	case err != nil:
		p.state.failed(klog.FromContext(ctx), p.Kind, time.Now(), err)
	case published != nil:
		p.state.succeeded(klog.FromContext(ctx), p.Kind, time.Now(), *published)
	}
	return Cycle{Began: began, Wrote: published != nil, Err: err}
}

// Publish brings the object up to date once. It returns nil, nil if it already was.
func (p *Publisher[D]) Publish(ctx context.Context) (*Publication, error) {
	collected, err := p.Source.Collect(ctx)
	if err != nil {
		return nil, err
	}
	var owner types.UID
	node, err := p.Config.Node.read()
	if err == nil {
		owner = node.UID
	}
	if !p.Source.Changed(collected, owner) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	published, err := p.Source.Apply(ctx, collected, node)
	if err != nil {
		return nil, err
	}
	return &published, nil
}

// Jittered returns d plus a random part of up to a tenth.
func Jittered(d time.Duration) time.Duration { return wait.Jitter(d, jitter) }

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
