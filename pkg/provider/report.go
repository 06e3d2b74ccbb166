// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/release"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/status"
)

// reporter answers what is known of the node's claims, from memory.
type reporter struct {
	table    *claims.Table
	pods     *pods.Manager
	statuses *status.Manager
	index    *sandboxes.Index
	health   *sandboxes.Health
	warnings *sandboxes.LeaseWarnings
	orphans  *sandboxes.OrphanScan
	releases *release.Queue
	owners   *release.OwnerCheck
}

// WaitingFor returns what the claim is waiting for, as far as this provider knows; empty
// if it waits for nothing. The text is made of constants and contains no remote answer.
// It never blocks.
func (r *reporter) WaitingFor(c claims.Claim) string {
	if why, ok := r.releases.Unconfirmed(c.ID); ok {
		return "sandboxd to confirm the release: " + why
	}
	if r.Ended(c) {
		return "its Pod, which has ended, to be deleted"
	}
	if until, held := r.owners.HeldUntil(c.ID); held {
		return "an operator, or " + until.UTC().Format(time.RFC3339) + ": its Pod and owner went missing together with others and no deletion was seen"
	}
	switch c.State {
	case claims.Tentative:
		return "the claims file to take it; if that fails it is given back"
	case claims.Quarantined:
		return "sandboxd to say whether it still has the sandbox"
	case claims.Releasing:
		return "sandboxd to confirm the release"
	}
	switch {
	case !c.Durable:
		return "the claims file to name its Pod"
	case c.Expired(time.Now()):
		return "sandboxd to say whether the lease has ended"
	case c.State == claims.Preserved:
		text := r.preservedUntil(c)
		if reason := r.owners.Reason(c); reason != "" {
			text += ": " + reason
		}
		return text
	default:
		// The Pod may have vanished; then there is a verdict about its owner.
		return r.owners.Reason(c)
	}
}

// preservedUntil returns what ends the wait of a preserved claim.
func (r *reporter) preservedUntil(c claims.Claim) string {
	if !c.Unadoptable() {
		return "a new Pod, or the end of its owner"
	}
	const why = ", because no other Pod will have its Pod's random name"
	if until, ends := r.owners.KeptUntil(c); ends {
		return "its release at " + until.UTC().Format(time.RFC3339) + why
	}
	return "the end of its owner or its lease" + why
}

// Ended reports whether the claim's sandbox is known to be gone and its Pod has ended
// because of that. Such a claim keeps its credential until the Pod is deleted, and waits for
// nothing else.
func (r *reporter) Ended(c claims.Claim) bool { return r.pods.EndedWithSandbox(c) }

// Verified is when sandboxd last listed its whole index, against which claims are
// verified; zero before the first time. It never blocks.
func (r *reporter) Verified() time.Time { return r.index.LastListed() }

// SandboxdReachable returns whether sandboxd answered the last request. It never blocks.
func (r *reporter) SandboxdReachable() metav1.Condition { return r.health.Condition() }

// Audit returns what the last orphan scan reported. It never blocks.
func (r *reporter) Audit() sandboxes.Audit { return r.orphans.Audit() }

// StatusQueueLen is the number of Pods whose status waits to be published.
func (r *reporter) StatusQueueLen() int { return r.statuses.QueueLen() }

// HeldClaims is the number of claims held because their Pods and owners went missing
// together without a deletion being seen. It never blocks.
func (r *reporter) HeldClaims() int { return r.owners.HeldClaims() }

// LeaseEnding reports whether a live Pod holds the claim and its lease ends soon. It never
// blocks.
func (r *reporter) LeaseEnding(c claims.Claim) bool { return r.warnings.Ending(c) }

// LeasesEnding is the number of claims for which LeaseEnding is true.
func (r *reporter) LeasesEnding() int { return len(r.table.Select(r.warnings.Ending)) }

// UnadoptableClaims is the number of claims that no Pod can adopt. It never blocks.
func (r *reporter) UnadoptableClaims() int { return len(r.table.Select(claims.Claim.Unadoptable)) }

// ReleaseHeld approves the release of claims that have been held since before the given
// time. Their owners are read once more first.
func (p *Provider) ReleaseHeld(before time.Time) { p.owners.ReleaseHeld(before) }
