// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import "time"

// Finding is what the orphan scan reports about one sandbox or claim, in a word that
// can be a metric's label.
type Finding string

// The findings. None leads to a release.
const (
	// Orphan: a sandbox without a claim_ref that no claim of this table names.
	Orphan Finding = "orphan"
	// External: claimed by another client of the same sandboxd.
	External Finding = "external"
	// Stray: its claim_ref is a Pod that holds another sandbox.
	Stray Finding = "stray"
	// Shared: its Pod has an owner that another Pod's claim has too.
	Shared Finding = "shared"
	// Stale: a claim whose sandbox sandboxd does not list.
	Stale Finding = "stale"
)

// Findings returns every finding.
func Findings() []Finding { return []Finding{Orphan, External, Stray, Shared, Stale} }

// text is the finding in a log message.
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
