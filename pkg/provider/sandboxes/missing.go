// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// observationTTL is how long an observation stays valid without a newer one.
const observationTTL = 2 * time.Minute

// missingSpan is a period in which every observation found the sandbox missing.
type missingSpan struct {
	first, last time.Time
	// confirmed is true once the sandbox counts as gone. The span then lasts until the
	// sandbox is seen.
	confirmed bool
}

// missingSince keeps since when sandboxes are missing, by sandbox id. The zero value is
// ready.
type missingSince struct {
	mu    sync.Mutex
	spans map[string]missingSpan
	// failed is when the last list failed; unreachable is when it failed because sandboxd
	// could not be reached.
	failed, unreachable time.Time
	// unlisted are the sandboxes whose claims were loaded when the daemon started and
	// that sandboxd has not listed since.
	unlisted sets.Set[string]
}

// listed records that the index has these sandboxes.
func (m *missingSince) listed(l Listing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.unlisted {
		if _, ok := l[id]; ok {
			m.unlisted.Delete(id)
		}
	}
}

// neverListed reports whether sandboxd has not listed the sandbox since its claim was
// loaded. What was known of it before, and of sandboxd's failures, was lost with the
// daemon that ran then.
func (m *missingSince) neverListed(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unlisted.Has(id)
}

// observe records that a sandbox is missing, and returns since when.
func (m *missingSince) observe(id string, now time.Time) (since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spans == nil {
		m.spans = map[string]missingSpan{}
	}
	s, ok := m.spans[id]
	if !ok || !s.confirmed && now.Sub(s.last) > observationTTL {
		s.first = now
	}
	s.last = now
	m.spans[id] = s
	return s.first
}

// confirm records that a missing sandbox is gone.
func (m *missingSince) confirm(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.spans[id]; ok {
		// A sandbox that was confirmed gone once needs no second wait.
		s.confirmed, s.first = true, s.first.Add(-goneAfter)
		m.spans[id] = s
	}
}

// listFailed records that the index could not be listed. If sandboxd could not be
// reached, it may have restarted, and every unconfirmed span ends.
func (m *missingSince) listFailed(now time.Time, unreachable bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = now
	if unreachable {
		m.unreachable = now
		maps.DeleteFunc(m.spans, func(_ string, s missingSpan) bool { return !s.confirmed })
	}
}

// lastFailures returns when the last list failed, and when it last failed because
// sandboxd could not be reached.
func (m *missingSince) lastFailures() (failed, unreachable time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed, m.unreachable
}

// forget ends a span: the sandbox was seen, or no claim needs it any more.
func (m *missingSince) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.spans, id)
}

// prune drops spans that are too old to count, and spans of sandboxes that no claim
// names.
func (m *missingSince) prune(now time.Time, claimed map[string]claims.Claim) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.spans, func(id string, s missingSpan) bool {
		_, known := claimed[id]
		return now.Sub(s.last) > observationTTL && (!known || !s.confirmed)
	})
	for id := range m.unlisted {
		if _, known := claimed[id]; !known {
			m.unlisted.Delete(id)
		}
	}
}
