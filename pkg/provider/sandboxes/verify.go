// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Pods answers which Pods hold claims. Its methods must not use the table.
type Pods interface {
	// HasNoPod reports whether no Pod holds the claim.
	HasNoPod(claims.Claim) bool
	// HolderTerminated reports whether the claim's Pod has ended.
	HolderTerminated(claims.Claim) bool
}

// Verifier compares the claims table with the index and reports the claims whose
// sandbox is confirmed gone.
type Verifier struct {
	index *Index
	table *claims.Table
	pods  Pods
	gone  func(context.Context, claims.Claim)
}

// NewVerifier returns a Verifier. It calls gone, without holding a lock, for each claim
// whose sandbox is confirmed gone.
func NewVerifier(index *Index, table *claims.Table, holders Pods, gone func(context.Context, claims.Claim)) *Verifier {
	return &Verifier{index: index, table: table, pods: holders, gone: gone}
}

// CheckQuarantined checks the claims that were loaded at the start. Listed claims leave
// quarantine, and claims whose sandbox is confirmed gone are reported. It does nothing if
// no claim is quarantined. On error sandboxd could not be listed, and nothing has
// changed.
func (v *Verifier) CheckQuarantined(ctx context.Context) error {
	quarantined := v.quarantined()
	if len(quarantined) == 0 {
		return nil
	}
	l, err := v.index.List(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("claims stay quarantined until sandboxd lists its sandboxes", "claims", len(quarantined), "err", err)
		return err
	}
	v.confirmListed(ctx, l)
	for _, c := range quarantined {
		if !v.pods.HasNoPod(c) || c.Expired(time.Now()) {
			v.reportGone(ctx, l, c)
		}
	}
	if left := len(v.quarantined()); left < len(quarantined) {
		klog.FromContext(ctx).Info("checked the claims table against sandboxd", "checked", len(quarantined), "stillQuarantined", left)
	}
	return nil
}

// quarantined returns the claims that wait for sandboxd's answer, without those whose Pod
// has ended.
func (v *Verifier) quarantined() []claims.Claim {
	return v.table.Select(func(c claims.Claim) bool { return c.State == claims.Quarantined && !v.pods.HolderTerminated(c) })
}

// confirmListed records the listing in the table.
func (v *Verifier) confirmListed(ctx context.Context, l Listing) {
	if err := v.table.ConfirmListed(l.listed()); err != nil {
		klog.FromContext(ctx).V(2).Info("leases read from sandboxd are not in the claims file yet", "err", err)
	}
}

// reportGone reports a claim whose sandbox is confirmed gone. A claim whose sandbox is
// only missing is checked again with the next listing.
func (v *Verifier) reportGone(ctx context.Context, l Listing, c claims.Claim) {
	if gone, err := v.index.ConfirmGoneIn(ctx, l, c); err == nil && gone {
		v.gone(ctx, c)
	}
}
