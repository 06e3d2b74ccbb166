// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// heldReleaser is the provider as an approval of missing owners reaches it.
type heldReleaser interface {
	HeldClaims() int
	ReleaseHeld(before time.Time)
}

// watchApprovals takes the approvals of missing owners until ctx ends. Each covers the
// claims whose owners were missing when it was given, and none that are held later.
func watchApprovals(ctx context.Context, fsys claims.FS, statePath string, p heldReleaser) {
	approval.Watch(ctx, fsys, statePath, approval.MissingOwners, func(a approval.Approval) {
		klog.FromContext(ctx).Info("An operator has approved the release of the held claims; their owners are read once more first", "approvedAt", a.At, "held", p.HeldClaims())
		p.ReleaseHeld(a.At)
	})
}
