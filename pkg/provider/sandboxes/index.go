// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandboxes answers which sandboxes sandboxd holds, and whether one that is
// missing is gone. Nothing here releases a sandbox, and neither a failed call nor an
// empty list confirms that one is gone.
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
	// goneAfter is how long a sandbox has to be missing before it counts as gone. It is
	// longer than a restarted daemon takes to rebuild its index, which is wrong until
	// then.
	goneAfter = 5 * time.Minute
	// rowMargin is how long after the end of its lease a claim without a Pod keeps its
	// credential, because the lease can have moved unseen.
	rowMargin = 10 * time.Minute
)

// errNotSure says that sandboxd does not list the sandbox at the moment.
var errNotSure = &sandboxd.Error{Op: "get", Class: sandboxd.NotFound}

// NotSure reports whether the error of [Index.ConfirmGone] only says that the sandbox
// has not been missing for long enough.
func NotSure(err error) bool { return errors.Is(err, errNotSure) }

// Client is what an Index asks of sandboxd.
type Client interface {
	List(context.Context) ([]sandboxd.Sandbox, error)
	Get(ctx context.Context, id string) (sandboxd.Sandbox, error)
}

// Index is what sandboxd is known to hold. It is safe for concurrent use.
type Index struct {
	client Client
	table  *claims.Table
	// ended reports whether a claim's sandbox is known to be gone already.
	ended   func(claims.Claim) bool
	missing missingSince
	listed  atomic.Pointer[time.Time]
}

// NewIndex returns an Index of the sandboxes behind client. The table has been loaded, and
// nothing has been claimed since. ended reports whether a
// claim's sandbox is known to be gone already; it must not use the table.
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
		// What was missing until now may be missing from the index of a daemon
		// that restarts.
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

// LastListed is when sandboxd last listed its whole index, which is what claims are
// verified against; zero before the first time. It never blocks.
func (x *Index) LastListed() time.Time {
	if at := x.listed.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// listed is the listing in the table's terms.
func (l Listing) listed() []claims.Listed {
	out := make([]claims.Listed, 0, len(l))
	for _, s := range l {
		out = append(out, claims.Listed{ID: s.ID, Deadline: s.Deadline})
	}
	return out
}

// ConfirmGone lists sandboxd's index and answers as [Index.ConfirmGoneIn].
func (x *Index) ConfirmGone(ctx context.Context, c claims.Claim) (bool, error) {
	l, err := x.List(ctx)
	if err != nil {
		return false, err
	}
	return x.ConfirmGoneIn(ctx, l, c)
}

// ConfirmGoneIn reports whether the claim's sandbox is gone: the listing lacks it and
// the single read does not know it. One such observation is enough where the claim's
// lease has ended and nothing casts doubt on the listing. Otherwise every observation
// of the last goneAfter has to agree, without a failed list in between; until then the
// error is [NotSure]. Any other error means that a question was not answered, which
// proves nothing.
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

// readMissing reads one sandbox and returns since when it is missing; zero when it is
// not.
func (x *Index) readMissing(ctx context.Context, id string) (time.Time, error) {
	_, err := x.client.Get(ctx, id)
	if err != nil && sandboxd.ClassOf(err) == sandboxd.NotFound {
		return x.missing.observe(id, time.Now()), nil
	}
	// An id that sandboxd cannot answer for casts doubt on itself only, and must not
	// keep the others from being confirmed.
	x.missing.forget(id)
	return time.Time{}, err
}

// endedWithLease reports whether a missing sandbox has ended with its lease. The cached
// deadline alone does not prove it: a lease can move, and the index of a daemon that
// restarted can lack a sandbox that runs. Doubt remains while the claim has not been
// listed since the table was loaded, when the sandbox was missing before its lease
// ended, and when the listing may not be complete: sandboxd could not be reached
// lately, the listing lacks another sandbox whose lease runs, or there is no other
// sandbox and a list has failed lately.
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

// RowExpendable reports whether the row of a claim that no Pod holds, and whose sandbox
// is confirmed gone, may be dropped: its lease ended more than a margin ago and the
// sandbox has been missing for long. An unneeded credential costs nothing, and a
// missing one cannot be restored.
func (x *Index) RowExpendable(c claims.Claim, now time.Time) bool {
	return now.After(c.LeaseEnd().Add(rowMargin)) && now.Sub(x.missing.observe(c.ID, now)) >= goneAfter
}

// Forget drops what is known about a missing sandbox: it was seen, or its claim is
// over.
func (x *Index) Forget(id string) { x.missing.forget(id) }

// Prune drops old observations, and those of sandboxes that no claim names.
func (x *Index) Prune(now time.Time, claimed map[string]claims.Claim) { x.missing.prune(now, claimed) }

// Claims is every claim of the table, by sandbox id.
func (x *Index) Claims() map[string]claims.Claim {
	out := map[string]claims.Claim{}
	for _, c := range append(x.table.List(), x.table.Releasing()...) {
		out[c.ID] = c
	}
	return out
}
