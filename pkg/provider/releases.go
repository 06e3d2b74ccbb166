// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// releaseLoop destroys the withdrawn claims, each tick and whenever one is
// added, for ever (configuration, field releasing).
func (p *Provider) releaseLoop(ctx context.Context) {
	for {
		p.releaseWithdrawn(ctx)
		timer := time.NewTimer(wait.Jitter(releasesEvery, p.jitter))
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

func (p *Provider) releaseWithdrawn(ctx context.Context) {
	logger := klog.FromContext(ctx)
	if err := p.table.Flush(); err != nil {
		logger.Error(err, "the claims file is behind the table; trying again")
	}
	for _, c := range p.table.Releasing() {
		if ctx.Err() != nil {
			return
		}
		gone, err := p.destroy(ctx, c)
		switch {
		case sandboxd.ClassOf(err) == sandboxd.Unreachable:
			// The others would wait for the same answer.
			logger.V(2).Info("withdrawn claims wait for sandboxd", "waiting", len(p.table.Releasing()), "err", err)
			return
		case err != nil:
			logger.V(2).Info("a withdrawn claim is not released yet; trying again", "key", c.Key, "claim", c.ID, "err", err)
		case gone:
			p.forget(ctx, c)
			logger.Info("released a withdrawn claim", "key", c.Key, "claim", c.ID)
		}
	}
}
