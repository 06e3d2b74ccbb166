// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"sync"
	"time"
)

// Finding is what the orphan scan says of one sandbox or claim, in a word that
// is fit for a metric's label.
type Finding string

// The findings. None leads to a release.
const (
	// Orphan: the node holds a sandbox that no claim of this table is bound to
	// and that names no claim_ref.
	Orphan Finding = "orphan"
	// External: claimed by somebody else against the same node.
	External Finding = "external"
	// Stray: its claim_ref is a Pod that holds another sandbox.
	Stray Finding = "stray"
	// Shared: its Pod has an owner that another Pod's claim has too.
	Shared Finding = "shared"
	// Stale: a claim whose sandbox the node does not list.
	Stale Finding = "stale"
)

// Findings returns every finding.
func Findings() []Finding { return []Finding{Orphan, External, Stray, Shared, Stale} }

// text is the finding as a person reads it.
func (f Finding) text() string {
	switch f {
	case Orphan:
		return "possible orphan: a sandbox without a claim_ref is bound to no claim; it is retained"
	case External:
		return "external claim: a sandbox with a claim_ref is bound to no claim here; it is retained"
	case Stray:
		return "stray claim: a sandbox names a pod that holds another one, as after a claim whose answer was lost; it is retained"
	case Shared:
		return "shared owner: two pods of one owner hold a claim each; both are kept while the owner lives"
	default:
		return "stale claim: the node does not list its sandbox"
	}
}

// Audit is what the last orphan scan reported.
type Audit struct {
	// At is when it ended; zero before the first one, and without the scan.
	At time.Time
	// Counts is how many there are of each finding.
	Counts map[Finding]int
}

// Audit returns what the last orphan scan reported. It never blocks.
func (p *Provider) Audit() Audit {
	p.audit.mu.Lock()
	defer p.audit.mu.Unlock()
	return p.audit.last
}

// StatusQueueLen is how many Pods wait for their status to be published.
func (p *Provider) StatusQueueLen() int { return p.changed.Len() }

// audits keeps the last Audit. The zero value is ready.
type audits struct {
	mu   sync.Mutex
	last Audit
}

func (a *audits) record(reported map[string]Finding, at time.Time) {
	counts := map[Finding]int{}
	for _, f := range reported {
		counts[f]++
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = Audit{At: at, Counts: counts}
}
