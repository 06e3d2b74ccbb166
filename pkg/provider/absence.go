// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	// absenceSpan is how long an absence has to last before it is believed: a
	// daemon that has just restarted answers while it rebuilds its index.
	absenceSpan = time.Minute
	// absenceMemory is how long an observation counts without another.
	absenceMemory = 2 * time.Minute
)

// errNotSure says that the node does not list the sandbox just now.
var errNotSure = &sandboxd.Error{Op: "get", Class: sandboxd.NotFound}

// listing is the node's index at one moment, by sandbox id.
type listing map[string]sandboxd.Sandbox

func (p *Provider) list(ctx context.Context) (listing, error) {
	all, err := p.sandboxd.List(ctx)
	if err != nil {
		// Whatever was missing until now may be missing from the index of a
		// daemon that is about to restart.
		p.absences.forgetAll()
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

// confirmGone asks the node whether it still holds a sandbox; see
// [Provider.confirmGoneIn].
func (p *Provider) confirmGone(ctx context.Context, id string) (bool, error) {
	l, err := p.list(ctx)
	if err != nil {
		return false, err
	}
	return p.confirmGoneIn(ctx, l, id)
}

// confirmGoneIn says that a sandbox is gone when the listing lacks it and the
// single read does not know it, and both have been so whenever anybody asked
// for absenceSpan, without a failed query in between. Until then the answer is
// [errNotSure]. A query that failed is an error: it is not an absence
// (architecture).
func (p *Provider) confirmGoneIn(ctx context.Context, l listing, id string) (bool, error) {
	_, listed := l[id]
	if !listed {
		_, err := p.sandboxd.Get(ctx, id)
		if err != nil && sandboxd.ClassOf(err) != sandboxd.NotFound {
			p.absences.forgetAll()
			return false, err
		}
		listed = err == nil
	}
	if listed {
		p.absences.forget(id)
		return false, nil
	}
	if !p.absences.sure(id, time.Now()) {
		return false, errNotSure
	}
	return true, nil
}

// absence is a stretch of time in which a sandbox was missing whenever asked.
type absence struct{ first, last time.Time }

// absences remembers them by sandbox id. The zero value is ready.
type absences struct {
	mu   sync.Mutex
	seen map[string]absence
}

// sure records an observed absence and reports whether it has lasted.
func (a *absences) sure(id string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[string]absence{}
	}
	s, ok := a.seen[id]
	if !ok || now.Sub(s.last) > absenceMemory {
		s.first = now
	}
	s.last = now
	a.seen[id] = s
	return now.Sub(s.first) >= absenceSpan
}

// forgetAll ends every absence: the node could not be asked.
func (a *absences) forgetAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.seen)
}

// forget ends an absence: the sandbox was seen, or nobody asks any more.
func (a *absences) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.seen, id)
}
