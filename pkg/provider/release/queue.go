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
	// retryEvery is how often a release that is not confirmed is tried.
	retryEvery = 10 * time.Second
	// maxConcurrent is how many sandboxes are destroyed at once.
	maxConcurrent = 32
)

// Client is what a Queue asks of sandboxd.
type Client interface {
	Release(ctx context.Context, id string, token sandboxd.Token) error
}

// Index answers whether a sandbox is gone.
type Index interface {
	List(context.Context) (sandboxes.Listing, error)
	ConfirmGoneIn(context.Context, sandboxes.Listing, claims.Claim) (bool, error)
	Forget(id string)
}

// Config is what a Queue is made from.
type Config struct {
	Table  *claims.Table
	Client Client
	Index  Index
	// ReleaseByID releases a sandbox with the node API token; nil where that is not
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

// NewQueue returns a Queue that starts to work with [Queue.Run].
func NewQueue(c Config) *Queue {
	return &Queue{
		table: c.Table, client: c.Client, index: c.Index, releaseByID: c.ReleaseByID, jitter: c.Jitter,
		rechecks: &rechecks{}, running: goroutinemap.New(maxConcurrent), wake: make(chan struct{}, 1),
	}
}

// Enqueue hands a claim whose release is authorised to the queue. A write that fails is
// no error for the caller: the file still has the row and its credential under the Pod
// key, and the same verdict is reached after a restart.
func (q *Queue) Enqueue(ctx context.Context, c claims.Claim) {
	if err := q.table.EnqueueRelease(c.Key, c.ID); err != nil {
		klog.FromContext(ctx).Error(err, "a withdrawn claim is not in the claims file as such yet; it is written again later", "claim", c.ID)
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

// Run releases what is in the releasing list, periodically and whenever a claim is
// added, until ctx ends. It returns when no release is going on. A release that is not
// confirmed is tried without end.
func (q *Queue) Run(ctx context.Context) {
	defer q.running.Wait()
	for {
		q.releaseDue(ctx)
		pause := retryEvery
		if q.jitter > 0 { // wait.Jitter takes 0 for 1
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

// releaseDue starts the release of each enqueued claim that is due, and waits for none:
// one that hangs must not delay the others. A sandbox that a Pod uses under another
// claim is not released.
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
		logger.V(2).Info("a withdrawn claim is not released yet; trying again", "err", err)
	case gone:
		q.Forget(ctx, c)
		logger.Info("released a withdrawn claim")
	}
}

// Unconfirmed returns why the release of a sandbox is not confirmed, if it was tried.
func (q *Queue) Unconfirmed(id string) (why string, tried bool) { return q.tries.why(id) }

// Prune forgets the releases of sandboxes that no claim names.
func (q *Queue) Prune(claimed map[string]claims.Claim) { q.tries.prune(claimed) }
