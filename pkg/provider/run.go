// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// How often each loop looks.
const (
	verifyEvery    = 5 * time.Second
	leasesEvery    = 10 * time.Second
	recheckEvery   = 5 * time.Second
	releasesEvery  = 10 * time.Second
	reconcileEvery = 30 * time.Second
	healthEvery    = 10 * time.Second
)

// Run publishes statuses and runs the loops until ctx ends, and returns when
// all of them have stopped. The Pod cache may still be filling: what depends
// on it waits.
func (p *Provider) Run(ctx context.Context) {
	var wg sync.WaitGroup
	loop := func(name string, every time.Duration, pass func(context.Context)) {
		ctx := klog.NewContext(ctx, klog.FromContext(ctx).WithName(name))
		wg.Go(func() { wait.JitterUntilWithContext(ctx, pass, every, p.jitter, true) })
	}
	wg.Go(func() { p.publishLoop(ctx) })
	wg.Go(func() { p.observeLoop(klog.NewContext(ctx, klog.FromContext(ctx).WithName("observe"))) })
	wg.Go(func() { p.releaseLoop(klog.NewContext(ctx, klog.FromContext(ctx).WithName("releases"))) })
	loop("verify", verifyEvery, p.verify)
	loop("leases", leasesEvery, p.watchLeases)
	loop("recheck", recheckEvery, p.recheckOwners)
	loop("reconcile", reconcileEvery, p.reconcile)
	loop("health", healthEvery, p.watchReach)
	if p.scanEvery > 0 {
		scan := &orphanScan{provider: p}
		loop("orphans", p.scanEvery, scan.pass)
	}
	wg.Wait()
	p.background.Wait()
	p.serving.wait()
	p.releasing.wait()
	if err := p.table.Flush(); err != nil {
		klog.FromContext(ctx).Error(err, "stopping with a claims file that is behind the table; what it lacks ends with its lease")
	}
}
