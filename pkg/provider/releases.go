// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// releaseLoop destroys the withdrawn claims, each tick and whenever one is
// added, for ever (configuration, field releasing).
func (p *Provider) releaseLoop(ctx context.Context) {
	for {
		p.releaseWithdrawn(ctx)
		pause := releasesEvery
		if p.jitter > 0 { // wait.Jitter takes 0 for 1
			pause = wait.Jitter(pause, p.jitter)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-p.withdrawn:
			timer.Stop()
		}
	}
}

// wakeReleases makes the release loop look now. It never blocks.
func (p *Provider) wakeReleases() {
	select {
	case p.withdrawn <- struct{}{}:
	default:
	}
}

// releasesAtOnce bounds how many sandboxes are destroyed side by side.
const releasesAtOnce = 32

// releaseWithdrawn starts the release of each withdrawn claim that is due, and waits
// for none: one that hangs must not hold up the next.
func (p *Provider) releaseWithdrawn(ctx context.Context) {
	if err := p.table.Flush(); err != nil {
		klog.FromContext(ctx).V(2).Info("the claims file is behind the table; trying again", "err", err)
	}
	now := time.Now()
	for _, c := range p.table.Releasing() {
		if ctx.Err() != nil {
			return
		}
		if p.table.Holders(c.ID) > 0 || !p.unreleased.due(c.ID, now) {
			continue
		}
		p.releasing.start(c.Key+" "+c.ID, func() { p.releaseOne(ctx, c) })
	}
}

func (p *Provider) releaseOne(ctx context.Context, c claims.Claim) {
	defer p.wakeReleases() // another may wait for this one's turn
	logger := klog.FromContext(ctx).WithValues("key", c.Key, "claim", c.ID)
	gone, err := p.destroy(ctx, c)
	switch {
	case err != nil:
		logger.V(2).Info("a withdrawn claim is not released yet; trying again", "err", err)
	case gone:
		p.forget(ctx, c)
		logger.Info("released a withdrawn claim")
	}
}
