// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Table is what is read of the claims table.
type Table interface {
	// List returns the claims under Pod keys, Releasing those withdrawn.
	List() []claims.Claim
	Releasing() []claims.Claim
	// Writes says how its writes went.
	Writes() claims.Writes
	// Changes receives a value after the table has changed.
	Changes() <-chan struct{}
}

// Provider knows of claims what the table does not. Its texts are constant, or
// made of constant parts.
type Provider interface {
	// WaitingFor says what has to happen for the claim to go on, or nothing.
	WaitingFor(claims.Claim) string
	// Ended reports whether the claim's Pod has ended.
	Ended(claims.Claim) bool
	// Verified is when sandboxd last listed its whole index; zero for never.
	Verified() time.Time
	// SandboxdReachable is the condition of that name.
	SandboxdReachable() metav1.Condition
}

// Collector reads the node, in memory only.
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

// rows reads the withdrawn claims last, so that one that is withdrawn meanwhile
// is seen twice rather than not at all; the later sight counts.
func (c Collector) rows() []api.NodeClaim {
	held, withdrawn := c.Table.List(), c.Table.Releasing()
	later := map[string]bool{}
	for _, claim := range withdrawn {
		later[claim.ID] = true
	}
	rows := make([]api.NodeClaim, 0, len(held)+len(withdrawn))
	for _, claim := range held {
		if !later[claim.ID] {
			rows = append(rows, c.row(claim))
		}
	}
	for _, claim := range withdrawn {
		rows = append(rows, c.row(claim))
	}
	return rows
}

func (c Collector) row(claim claims.Claim) api.NodeClaim {
	// Nobody asks sandboxd about what an ended Pod ran on any more: after a
	// restart such a claim stays as it was loaded until the Pod's teardown.
	if claim.State == claims.Quarantined && c.Provider.Ended(claim) {
		claim.State = claims.Bound
	}
	return Redact(claim, c.Provider.WaitingFor(claim))
}
