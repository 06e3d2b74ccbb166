// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"

	"k8s.io/klog/v2"
)

// Reach is whether sandboxd answers with the credential that this node has.
type Reach struct {
	// Known is false until the first answer or failure.
	Known bool
	// Err is the failed call; nil when sandboxd answered.
	Err error
}

// reachability keeps the last Reach. The zero value is ready.
type reachability struct {
	mu  sync.Mutex
	now Reach
}

// Reach returns whether sandboxd answered the last time it was asked, for the
// Node's condition. It never blocks.
func (p *Provider) Reach() Reach {
	p.reach.mu.Lock()
	defer p.reach.mu.Unlock()
	return p.reach.now
}

// watchReach asks sandboxd for its info, which takes a good credential too,
// and logs when the answer changes.
func (p *Provider) watchReach(ctx context.Context) {
	_, err := p.sandboxd.Info(ctx)
	if ctx.Err() != nil {
		return
	}
	p.reach.mu.Lock()
	last := p.reach.now
	p.reach.now = Reach{Known: true, Err: err}
	p.reach.mu.Unlock()
	switch {
	case err != nil && (!last.Known || last.Err == nil || last.Err.Error() != err.Error()):
		klog.FromContext(ctx).Error(err, "sandboxd cannot be used; claims and releases wait for it")
	case err == nil && last.Err != nil:
		klog.FromContext(ctx).Info("sandboxd can be used again")
	}
}
