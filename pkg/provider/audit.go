// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"sync"
	"time"
)

// Finding is the short name of what the orphan scan says of one sandbox or
// claim, fit for a metric's label.
type Finding string

// The findings.
const (
	// Orphan: a sandbox without a claim_ref that no claim is bound to.
	Orphan Finding = "orphan"
	// External: a sandbox that somebody else has claimed from the same node.
	External Finding = "external"
	// Stray: a sandbox whose claim_ref is a Pod that holds another one.
	Stray Finding = "stray"
	// Stale: a claim whose sandbox the node does not list.
	Stale Finding = "stale"
)

// Findings returns every finding.
func Findings() []Finding { return []Finding{Orphan, External, Stray, Stale} }

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

func (a *audits) record(reported map[string]finding, at time.Time) {
	counts := map[Finding]int{}
	for _, f := range reported {
		counts[f.name()]++
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = Audit{At: at, Counts: counts}
}

func (f finding) name() Finding {
	switch f {
	case orphan:
		return Orphan
	case external:
		return External
	case lostAnswer:
		return Stray
	default:
		return Stale
	}
}
