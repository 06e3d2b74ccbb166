// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Table is the part of the claims table that is read.
type Table interface {
	// List returns the claims under Pod keys, Releasing those in the releasing list.
	List() []claims.Claim
	Releasing() []claims.Claim
	// Writes returns the state of the table's writes.
	Writes() claims.Writes
	// Changes receives a value after the table has changed.
	Changes() <-chan struct{}
}

// Provider adds what the table does not record about claims. Its texts are made of
// constants.
type Provider interface {
	// WaitingFor returns what the claim is waiting for, or nothing.
	WaitingFor(claims.Claim) string
	// LeaseEnding reports whether a live Pod holds the claim and its lease ends soon.
	LeaseEnding(claims.Claim) bool
	// Ended reports whether the claim's Pod has ended.
	Ended(claims.Claim) bool
	// Verified is when sandboxd last listed its whole index; zero if never.
	Verified() time.Time
	// SandboxdReachable is the condition of that name.
	SandboxdReachable() metav1.Condition
}

// Collector reads the node's state, from memory only.
type Collector struct {
	Table    Table
	Provider Provider
}

// Collect returns the node's claims and conditions. The conditions have no
// transition times, and the time of publication is not set.
func (c Collector) Collect() api.NodeClaimStatusStatus {
	s := Summarize(c.rows())
	writes := c.Table.Writes()
	s.Conditions = conditions(writes.Condition(), claimsVerified(s.Counts.Quarantined), c.Provider.SandboxdReachable())
	s.LastWrittenTime = timeOf(writes.Last)
	s.LastVerifiedTime = timeOf(c.Provider.Verified())
	return s
}

// rows reads the releasing list last, so that a claim that moves there meanwhile is seen
// twice and not missed. The later observation counts.
func (c Collector) rows() []api.NodeClaim {
	held, releasing := c.Table.List(), c.Table.Releasing()
	later := map[string]bool{}
	for _, claim := range releasing {
		later[claim.ID] = true
	}
	rows := make([]api.NodeClaim, 0, len(held)+len(releasing))
	for _, claim := range held {
		if !later[claim.ID] {
			rows = append(rows, c.row(claim))
		}
	}
	for _, claim := range releasing {
		rows = append(rows, c.row(claim))
	}
	return rows
}

func (c Collector) row(claim claims.Claim) api.NodeClaim {
	// sandboxd is not asked about the sandbox of an ended Pod: after a restart such a
	// claim stays quarantined until its Pod is deleted.
	if claim.State == claims.Quarantined && c.Provider.Ended(claim) {
		claim.State = claims.Bound
	}
	row := Redact(claim, c.Provider.WaitingFor(claim))
	row.LeaseEnding = c.Provider.LeaseEnding(claim)
	return row
}
