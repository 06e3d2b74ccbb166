// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import "time"

// Finding is a result of the orphan scan for one sandbox or claim. It is used as a metric
// label.
type Finding string

// The findings. None leads to a release.
const (
	// Orphan: a sandbox without a claim_ref that no claim of this table names.
	Orphan Finding = "orphan"
	// External: claimed by another client of the same sandboxd.
	External Finding = "external"
	// Stray: its claim_ref is a Pod that holds another sandbox.
	Stray Finding = "stray"
	// Shared: the Pod has the same owner as the Pod of another claim.
	Shared Finding = "shared"
	// Stale: a claim whose sandbox sandboxd does not list.
	Stale Finding = "stale"
)

// Findings returns every finding.
func Findings() []Finding { return []Finding{Orphan, External, Stray, Shared, Stale} }

// text describes the finding in a log message.
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

// Audit is the result of the last orphan scan.
type Audit struct {
	// At is when the scan ended; zero before the first scan, or if it is disabled.
	At time.Time
	// Counts is the number of findings of each kind.
	Counts map[Finding]int
}
