// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandboxes knows which sandboxes sandboxd holds, and decides whether a missing
// sandbox is gone. It releases nothing, and neither a failed call nor an empty list
// confirms that a sandbox is gone.
package sandboxes

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	// goneAfter is how long a sandbox must be missing before it counts as gone. It is
	// longer than a restarted sandboxd takes to rebuild its index, which is incomplete
	// until then.
	goneAfter = 5 * time.Minute
	// rowMargin is how long a claim without a Pod keeps its credential after the end of
	// its lease, because the lease may have been extended unseen.
	rowMargin = 10 * time.Minute
)

// errNotSure means that sandboxd does not list the sandbox at the moment.
var errNotSure = &sandboxd.Error{Op: "get", Class: sandboxd.NotFound}

// NotSure reports whether err of [Index.ConfirmGone] only means that the sandbox has not
// been missing for long enough.
func NotSure(err error) bool { return errors.Is(err, errNotSure) }

// Client is the part of sandboxd's API that an Index uses.
type Client interface {
	List(context.Context) ([]sandboxd.Sandbox, error)
	Get(ctx context.Context, id string) (sandboxd.Sandbox, error)
}

// Index tracks which sandboxes sandboxd holds. It is safe for concurrent use.
type Index struct {
	client Client
	table  *claims.Table
	// ended reports whether a claim's sandbox is already known to be gone.
	ended   func(claims.Claim) bool
	missing missingSince
	listed  atomic.Pointer[time.Time]
}

// NewIndex returns an Index of the sandboxes behind client. The table must be loaded and
// must not have new claims yet. ended reports whether a claim's sandbox is already known
// to be gone; it must not use the table.
func NewIndex(client Client, table *claims.Table, ended func(claims.Claim) bool) *Index {
	x := &Index{client: client, table: table, ended: ended}
	x.missing.unlisted = sets.New[string]()
	for id, c := range x.Claims() {
		if c.State == claims.Quarantined || c.State == claims.Releasing {
			x.missing.unlisted.Insert(id)
		}
	}
	return x
}

// Listing is sandboxd's index at one moment, by sandbox id.
type Listing map[string]sandboxd.Sandbox

// List reads sandboxd's index.
func (x *Index) List(ctx context.Context) (Listing, error) {
	all, err := x.client.List(ctx)
	if err != nil {
		// A restarting sandboxd can list an incomplete index, so earlier observations do
		// not count.
		x.missing.listFailed(time.Now(), sandboxd.ClassOf(err) == sandboxd.Unreachable)
		return nil, err
	}
	now := time.Now()
	x.listed.Store(&now)
	l := make(Listing, len(all))
	for _, s := range all {
		l[s.ID] = s
	}
	x.missing.listed(l)
	return l, nil
}

// LastListed is when sandboxd last listed its whole index, against which claims are
// verified; zero before the first time. It never blocks.
func (x *Index) LastListed() time.Time {
	if at := x.listed.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// listed converts the listing to the table's type.
func (l Listing) listed() []claims.Listed {
	out := make([]claims.Listed, 0, len(l))
	for _, s := range l {
		out = append(out, claims.Listed{ID: s.ID, Deadline: s.Deadline})
	}
	return out
}

// ConfirmGone lists sandboxd's index and returns the result of [Index.ConfirmGoneIn].
func (x *Index) ConfirmGone(ctx context.Context, c claims.Claim) (bool, error) {
	l, err := x.List(ctx)
	if err != nil {
		return false, err
	}
	return x.ConfirmGoneIn(ctx, l, c)
}

// ConfirmGoneIn reports whether the claim's sandbox is gone: it is not in the listing,
// and a single read does not find it. One such observation suffices if the claim's lease
// has ended and nothing makes the listing doubtful. Otherwise every observation of the
// last goneAfter must agree, without a failed list in between; until then the error is
// [NotSure]. Any other error means that sandboxd did not answer, which proves nothing.
func (x *Index) ConfirmGoneIn(ctx context.Context, l Listing, c claims.Claim) (bool, error) {
	if _, listed := l[c.ID]; listed {
		x.missing.forget(c.ID)
		return false, nil
	}
	since, err := x.readMissing(ctx, c.ID)
	if err != nil || since.IsZero() {
		return false, err
	}
	now := time.Now()
	if now.Sub(since) >= goneAfter || x.endedWithLease(l, c, since, now) {
		x.missing.confirm(c.ID)
		return true, nil
	}
	return false, errNotSure
}

// readMissing reads one sandbox and returns since when it is missing; zero if it exists.
func (x *Index) readMissing(ctx context.Context, id string) (time.Time, error) {
	_, err := x.client.Get(ctx, id)
	if err != nil && sandboxd.ClassOf(err) == sandboxd.NotFound {
		return x.missing.observe(id, time.Now()), nil
	}
	// A failed read of one id is doubt about that id only, and must not delay the
	// confirmation of others.
	x.missing.forget(id)
	return time.Time{}, err
}

// endedWithLease reports whether a missing sandbox has ended with its lease. The cached
// deadline alone does not prove it: a lease can be extended, and the index of a restarted
// sandboxd can lack a running sandbox. It returns false if the claim has not been listed
// since the table was loaded, if the sandbox was missing before its lease ended, or if
// the listing may be incomplete: sandboxd was unreachable recently, the listing lacks
// another sandbox whose lease has not ended, or there is no other sandbox and a list
// failed recently.
func (x *Index) endedWithLease(l Listing, c claims.Claim, since, now time.Time) bool {
	if !c.Expired(now) || c.State == claims.Quarantined || x.missing.neverListed(c.ID) || since.Before(c.LeaseEnd()) {
		return false
	}
	failed, unreachable := x.missing.lastFailures()
	if now.Sub(unreachable) < goneAfter {
		return false
	}
	running := x.table.Select(func(o claims.Claim) bool {
		return o.ID != c.ID && o.State != claims.Tentative && !o.Expired(now) && !x.ended(o)
	})
	for _, o := range running {
		if _, listed := l[o.ID]; !listed {
			return false
		}
	}
	return len(running) > 0 || now.Sub(failed) >= goneAfter
}

// RowExpendable reports whether the row of a claim may be dropped that no Pod holds and
// whose sandbox is confirmed gone: its lease ended more than rowMargin ago, and the
// sandbox has been missing for goneAfter. Keeping a credential costs nothing, and a lost
// one cannot be restored.
func (x *Index) RowExpendable(c claims.Claim, now time.Time) bool {
	return now.After(c.LeaseEnd().Add(rowMargin)) && now.Sub(x.missing.observe(c.ID, now)) >= goneAfter
}

// Forget drops the observations of a sandbox that was seen or whose claim has ended.
func (x *Index) Forget(id string) { x.missing.forget(id) }

// Prune drops old observations, and observations of sandboxes that no claim names.
func (x *Index) Prune(now time.Time, claimed map[string]claims.Claim) { x.missing.prune(now, claimed) }

// Claims returns every claim of the table, by sandbox id.
func (x *Index) Claims() map[string]claims.Claim {
	out := map[string]claims.Claim{}
	for _, c := range append(x.table.List(), x.table.Releasing()...) {
		out[c.ID] = c
	}
	return out
}
