// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/goroutinemap"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	// retryEvery is the interval between two tries of an unconfirmed release.
	retryEvery = 10 * time.Second
	// maxConcurrent bounds concurrent releases.
	maxConcurrent = 32
)

// Client is the part of sandboxd's API that a Queue uses.
type Client interface {
	Release(ctx context.Context, id string, token sandboxd.Token) error
}

// Index answers whether a sandbox is gone.
type Index interface {
	List(context.Context) (sandboxes.Listing, error)
	ConfirmGoneIn(context.Context, sandboxes.Listing, claims.Claim) (bool, error)
	Forget(id string)
}

// Config configures a Queue.
type Config struct {
	Table  *claims.Table
	Client Client
	Index  Index
	// ReleaseByID releases a sandbox with the node API token; nil if that is not
	// possible.
	ReleaseByID func(ctx context.Context, id string) error
	// Jitter lengthens the interval between two passes at random, by at most this
	// fraction.
	Jitter float64
}

// Queue destroys the sandboxes of the claims in the table's releasing list. It is safe
// for concurrent use.
type Queue struct {
	table       *claims.Table
	client      Client
	index       Index
	releaseByID func(ctx context.Context, id string) error
	jitter      float64

	tries    tries
	rechecks *rechecks
	running  *goroutinemap.Map
	wake     chan struct{}
}

// NewQueue returns a Queue. It starts with [Queue.Run].
func NewQueue(c Config) *Queue {
	return &Queue{
		table: c.Table, client: c.Client, index: c.Index, releaseByID: c.ReleaseByID, jitter: c.Jitter,
		rechecks: &rechecks{}, running: goroutinemap.New(maxConcurrent), wake: make(chan struct{}, 1),
	}
}

// Enqueue hands a claim whose release is authorised to the queue. A failed write is not
// returned: the file still has the row and its credential under the Pod key, and a
// restart reaches the same verdict.
func (q *Queue) Enqueue(ctx context.Context, c claims.Claim) {
	if err := q.table.EnqueueRelease(c.Key, c.ID); err != nil {
		klog.FromContext(ctx).Error(err, "a claim that is being released is not in the releasing list of the claims file yet; it is written again later", "claim", c.ID)
	}
	q.rechecks.forget(c.Key)
	q.Wake()
}

// Wake makes the queue look at the releasing list now. It never blocks.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run releases the claims of the releasing list, periodically and whenever a claim is
// added, until ctx ends. It returns when no release is in progress. An unconfirmed
// release is retried without end.
func (q *Queue) Run(ctx context.Context) {
	defer q.running.Wait()
	for {
		q.releaseDue(ctx)
		pause := retryEvery
		if q.jitter > 0 { // wait.Jitter treats 0 as 1
			pause = wait.Jitter(pause, q.jitter)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-q.wake:
			timer.Stop()
		}
	}
}

// releaseDue starts the release of each due claim in the releasing list without waiting
// for it: a hanging release must not delay others. A sandbox that a Pod uses under
// another claim is not released.
func (q *Queue) releaseDue(ctx context.Context) {
	if err := q.table.Flush(); err != nil {
		klog.FromContext(ctx).V(2).Info("the claims file is behind the table; trying again", "err", err)
	}
	now := time.Now()
	for _, c := range q.table.Releasing() {
		if ctx.Err() != nil {
			return
		}
		if q.table.Holders(c.ID) > 0 || !q.tries.due(c.ID, now) {
			continue
		}
		q.running.Start(c.Key+" "+c.ID, func() { q.releaseOne(ctx, c) })
	}
}

func (q *Queue) releaseOne(ctx context.Context, c claims.Claim) {
	defer q.Wake() // another claim may wait until fewer releases run
	logger := klog.FromContext(ctx).WithValues("key", c.Key, "claim", c.ID)
	gone, err := q.Destroy(ctx, c)
	switch {
	case err != nil:
		logger.V(2).Info("a claim is not released yet; trying again", "err", err)
	case gone:
		q.Forget(ctx, c)
		logger.Info("released a claim")
	}
}

// Unconfirmed returns why the release of a sandbox is not confirmed; tried is false if it
// was not tried.
func (q *Queue) Unconfirmed(id string) (why string, tried bool) { return q.tries.why(id) }

// Prune forgets the releases of sandboxes that no claim names.
func (q *Queue) Prune(claimed map[string]claims.Claim) {
	q.tries.prune(func(id string) bool { _, known := claimed[id]; return known })
}
