// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const reasonNeverAdopted = "its pod was deleted, no other pod will have the random name, and the grace has ended"

// KeptUntil returns until when a claim that no Pod can adopt is kept while its owner
// lives. ends is false for all other claims, and if the deletion of the Pod was not seen:
// an API server that was restored from an older backup lacks Pods that nobody deleted.
func (o *OwnerCheck) KeptUntil(c claims.Claim) (until time.Time, ends bool) {
	if o.grace <= 0 || !c.Unadoptable() || c.PodDeletedAt.IsZero() {
		return time.Time{}, false
	}
	return c.PodDeletedAt.Add(o.grace), true
}

// graceEnded reports whether the claim may be released although its owner lives. While
// claims are held the API server may have lost objects, and no grace ends.
func (o *OwnerCheck) graceEnded(c claims.Claim, d ownership.Decision, now time.Time) bool {
	until, ends := o.KeptUntil(c)
	return ends && !now.Before(until) && d.Cause == ownership.Alive && o.held.count() == 0
}

// confirmNeverAdopted reads the Pod, and releases only if the API server confirms that
// there is none of that name. alive is the verdict about the owner.
func (o *OwnerCheck) confirmNeverAdopted(ctx context.Context, c claims.Claim, alive ownership.Decision) ownership.Decision {
	pod := o.ReadVerdict(ctx, c, nil)
	if pod.Release && pod.Cause == ownership.Gone {
		return ownership.Decision{Release: true, Cause: pod.Cause, Reason: reasonNeverAdopted}
	}
	return ownership.Decision{Cause: alive.Cause, Reason: alive.Reason + ", and its pod is not gone", Err: pod.Err}
}

// announceGrace records that a claim that has just been preserved is released when its
// grace ends.
func (o *OwnerCheck) announceGrace(ctx context.Context, preserved claims.Claim) {
	c, held := o.table.Get(preserved.Key)
	if !held || c.ID != preserved.ID {
		return
	}
	if until, ends := o.KeptUntil(c); ends {
		klog.FromContext(ctx).Info("no other pod will have the name of this claim's pod; its sandbox is released when the grace ends", "claim", c.ID, "until", until)
		o.events.Unadoptable(c, o.grace)
	}
}
