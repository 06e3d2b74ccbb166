// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// The interval of each loop.
const (
	verifyEvery    = 5 * time.Second
	leasesEvery    = 10 * time.Second
	recheckEvery   = 5 * time.Second
	reconcileEvery = 30 * time.Second
	healthEvery    = 10 * time.Second
)

// Run publishes statuses and runs the loops until ctx ends, and returns when all of them
// have stopped. It may be called before the Pod cache has synced; the work that depends
// on the cache waits.
func (p *Provider) Run(ctx context.Context) {
	var wg sync.WaitGroup
	loop := func(name string, every time.Duration, pass func(context.Context)) {
		ctx := klog.NewContext(ctx, klog.FromContext(ctx).WithName(name))
		wg.Go(func() { wait.JitterUntilWithContext(ctx, pass, every, p.jitter, true) })
	}
	wg.Go(func() { p.statuses.Run(ctx) })
	wg.Go(func() { p.observed.run(klog.NewContext(ctx, klog.FromContext(ctx).WithName("observe"))) })
	wg.Go(func() { p.releases.Run(klog.NewContext(ctx, klog.FromContext(ctx).WithName("releases"))) })
	loop("verify", verifyEvery, p.verify)
	loop("leases", leasesEvery, p.checkLeases)
	loop("recheck", recheckEvery, p.checkOwners)
	loop("reconcile", reconcileEvery, p.reconcile)
	loop("health", healthEvery, p.health.Check)
	if p.scanEvery > 0 {
		loop("orphans", p.scanEvery, p.orphans.Pass)
	}
	wg.Wait()
	p.running.Wait()
	if err := p.table.Flush(); err != nil {
		klog.FromContext(ctx).Error(err, "stopping with a claims file that is behind the table; sandboxes of claims that it lacks end with their lease")
	}
}

// verify checks the claims that were loaded at the start, and then starts an attempt for
// each Pod without a claim, without waiting for the attempts.
func (p *Provider) verify(ctx context.Context) {
	if p.verifier.CheckQuarantined(ctx) == nil {
		p.ensureClaims(ctx)
	}
}

// checkLeases ends the Pods whose leases have ended, and warns of leases that end soon.
func (p *Provider) checkLeases(ctx context.Context) {
	p.verifier.CheckLeases(ctx)
	p.warnings.Pass(ctx)
}

// checkOwners reads the owners of claims that no Pod holds, and prunes state about
// finished claims and Pods.
func (p *Provider) checkOwners(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	claimed := p.index.Claims()
	p.index.Prune(time.Now(), claimed)
	p.releases.Prune(claimed)
	p.attempts.Prune(p.inCache)
	p.owners.Pass(ctx)
}

// inCache reports whether the Pod cache has a Pod of that key.
func (p *Provider) inCache(key string) bool {
	name := pods.NameOf(key)
	_, err := p.lister.Pods(name.Namespace).Get(name.Name)
	return err == nil
}
