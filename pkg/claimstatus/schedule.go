// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

const (
	// batchDelay is how long the first change after an idle time waits for related
	// changes: a claim is recorded, and bound a moment later.
	batchDelay = 500 * time.Millisecond
	// maxRetry bounds the time between two tries after failures in a row.
	maxRetry = 5 * time.Minute
)

// Wait implements [publish.Source]. Intervals are counted from the end of a cycle.
// The watch starts once there is an object to watch.
func (s *source) Wait(ctx context.Context, last publish.Cycle) {
	interval := s.config.Interval
	if last.Err != nil {
		s.retry = max(s.retry, interval)
		s.backOff(ctx, s.retry)
		s.retry = min(2*s.retry, max(maxRetry, interval))
		return
	}
	s.retry = interval
	if !last.Wrote {
		s.idle(ctx)
		return
	}
	s.startWatch(ctx)
	s.pause(ctx, publish.Jittered(interval), nil, nil)
}

// idle waits until something may have changed. Changes without a signal are found by the
// next periodic pass.
func (s *source) idle(ctx context.Context) {
	differs := func() bool { return s.record.stale || s.record.doubtful }
	woken := s.pause(ctx, publish.Jittered(s.config.Interval), differs, s.config.Table.Changes())
	if woken && !differs() {
		s.pause(ctx, min(batchDelay, s.config.Interval), nil, nil)
	}
}

// backOff waits after a failure, for at least an interval. It ends early when the
// watch gets an answer: the API server can be reached again.
func (s *source) backOff(ctx context.Context, retry time.Duration) {
	s.record.answered = false
	answered := func() bool { return s.record.answered }
	s.pause(ctx, publish.Jittered(s.config.Interval), nil, nil)
	if rest := retry - s.config.Interval; rest > 0 && !answered() {
		s.pause(ctx, publish.Jittered(rest), answered, nil)
	}
}

// pause waits for d. It returns true as soon as changed receives, or an observation makes
// ready true. Either may be nil. Observations are recorded in any case.
func (s *source) pause(ctx context.Context, d time.Duration, ready func() bool, changed <-chan struct{}) (woken bool) {
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
		case seen := <-s.seen:
			if s.record.observe(seen); ready != nil && ready() {
				return true
			}
		}
	}
}
