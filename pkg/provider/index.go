// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	// lostSpan is how long a sandbox has to be missing before it counts as gone:
	// longer than a daemon that has restarted takes to rebuild its index, which
	// answers with a wrong index until then.
	lostSpan = 5 * time.Minute
	// absenceMemory is how long an observation counts without another.
	absenceMemory = 2 * time.Minute
	// leaseMargin is how long after the end of its lease a claim without a Pod
	// keeps its credential: the lease can have moved unseen.
	leaseMargin = 10 * time.Minute
)

// errNotSure says that the node does not list the sandbox at the moment.
var errNotSure = &sandboxd.Error{Op: "get", Class: sandboxd.NotFound}

// listing is the node's index at one moment, by sandbox id.
type listing map[string]sandboxd.Sandbox

func (p *Provider) list(ctx context.Context) (listing, error) {
	all, err := p.sandboxd.List(ctx)
	if err != nil {
		// What was missing until now may be missing from the index of a daemon
		// that restarts.
		p.absences.failed(time.Now(), sandboxd.ClassOf(err) == sandboxd.Unreachable)
		return nil, err
	}
	p.listed.set(time.Now())
	l := make(listing, len(all))
	for _, s := range all {
		l[s.ID] = s
	}
	return l, nil
}

// seen is the listing in the table's terms.
func (l listing) seen() []claims.Seen {
	out := make([]claims.Seen, 0, len(l))
	for _, s := range l {
		out = append(out, claims.Seen{ID: s.ID, Deadline: s.Deadline})
	}
	return out
}

// confirmGone lists the node's index and asks [Provider.confirmGoneIn].
func (p *Provider) confirmGone(ctx context.Context, c claims.Claim) (bool, error) {
	l, err := p.list(ctx)
	if err != nil {
		return false, err
	}
	return p.confirmGoneIn(ctx, l, c)
}

// confirmGoneIn reports whether the claim's sandbox is gone: the listing lacks it
// and the single read does not know it. Where the claim's lease has ended and
// nothing casts doubt on the listing, one such observation is enough. Otherwise
// every observation of the last lostSpan has to agree, without a list that failed
// in between, and until then the error is [errNotSure]. Any other error means that
// a question was not answered, which proves nothing.
func (p *Provider) confirmGoneIn(ctx context.Context, l listing, c claims.Claim) (bool, error) {
	if _, listed := l[c.ID]; listed {
		p.absences.forget(c.ID)
		return false, nil
	}
	first, err := p.missingSince(ctx, c.ID)
	if err != nil || first.IsZero() {
		return false, err
	}
	now := time.Now()
	if now.Sub(first) >= lostSpan || p.leaseOver(l, c, first, now) {
		p.absences.confirm(c.ID)
		return true, nil
	}
	return false, errNotSure
}

// missingSince reads one sandbox and returns since when it is missing; zero when it
// is not.
func (p *Provider) missingSince(ctx context.Context, id string) (time.Time, error) {
	_, err := p.sandboxd.Get(ctx, id)
	if err != nil && sandboxd.ClassOf(err) == sandboxd.NotFound {
		return p.absences.note(id, time.Now()), nil
	}
	// An id that sandboxd cannot answer for puts only itself in doubt, and must
	// not keep the others from being confirmed.
	p.absences.forget(id)
	return time.Time{}, err
}

// leaseOver reports whether a missing sandbox has ended with its lease. The cached
// deadline alone does not say so: a lease can move, and the index of a daemon that
// restarted can lack what lives. Doubt remains where the table was loaded and the
// claim has not been listed since, where the sandbox was missing before its lease
// ended, and where the listing may not be whole: sandboxd could not be reached
// lately, the listing lacks another sandbox whose lease runs, or there is no other
// and a listing has failed lately.
func (p *Provider) leaseOver(l listing, c claims.Claim, missingSince, now time.Time) bool {
	if !c.Expired(now) || c.State == claims.Quarantined || missingSince.Before(c.LeaseEnd()) {
		return false
	}
	failed, unreachable := p.absences.failures()
	if now.Sub(unreachable) < lostSpan {
		return false
	}
	running := p.table.Select(func(o claims.Claim) bool {
		return o.ID != c.ID && o.State != claims.Tentative && !o.Expired(now) && !p.Ended(o)
	})
	for _, o := range running {
		if _, listed := l[o.ID]; !listed {
			return false
		}
	}
	return len(running) > 0 || now.Sub(failed) >= lostSpan
}

// absence is a stretch of time in which a sandbox was missing whenever asked.
type absence struct {
	first, last time.Time
	// confirmed is true once it has been long enough; it then counts until the
	// sandbox is seen.
	confirmed bool
}

// absences remembers them by sandbox id. The zero value is ready.
type absences struct {
	mu   sync.Mutex
	seen map[string]absence
	// When the index last could not be listed, and when sandboxd last could not be
	// reached for it.
	failure, unreachable time.Time
}

// note records that a sandbox is missing, and returns since when it is.
func (a *absences) note(id string, now time.Time) (since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[string]absence{}
	}
	s, ok := a.seen[id]
	if !ok || !s.confirmed && now.Sub(s.last) > absenceMemory {
		s.first = now
	}
	s.last = now
	a.seen[id] = s
	return s.first
}

// confirm records that a missing sandbox is gone.
func (a *absences) confirm(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, ok := a.seen[id]; ok {
		// What was believed once needs no second wait.
		s.confirmed, s.first = true, s.first.Add(-lostSpan)
		a.seen[id] = s
	}
}

// failed records that the index could not be listed. Where sandboxd could not be
// reached, which a restart looks like, every absence ends.
func (a *absences) failed(now time.Time, unreachable bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failure = now
	if unreachable {
		a.unreachable = now
		maps.DeleteFunc(a.seen, func(_ string, s absence) bool { return !s.confirmed })
	}
}

// failures are when the index last could not be listed, and when sandboxd last could
// not be reached for it.
func (a *absences) failures() (failed, unreachable time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure, a.unreachable
}

// forget ends an absence: the sandbox was seen, or nobody asks any more.
func (a *absences) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.seen, id)
}

// shed forgets the absences that are too old to count, and those of sandboxes that no
// claim names.
func (a *absences) shed(now time.Time, claimed map[string]claims.Claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.seen, func(id string, s absence) bool {
		_, known := claimed[id]
		return now.Sub(s.last) > absenceMemory && (!known || !s.confirmed)
	})
}

// notSure reports whether an error is only [errNotSure].
func notSure(err error) bool { return errors.Is(err, errNotSure) }
