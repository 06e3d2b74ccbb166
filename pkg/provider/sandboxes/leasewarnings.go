// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

const (
	// warnMost bounds the warnings of one pass, because the claims of one pool can end
	// together. The next pass warns of the others.
	warnMost = 50
	// endingReread is how often the leases that end soon are read again, so that an
	// extended one is known.
	endingReread = time.Minute
)

// LeaseWarnings warns before the leases of claims end that live Pods hold. It warns once
// of each end, also across restarts: an extended lease has another end.
type LeaseWarnings struct {
	verifier *Verifier
	ahead    time.Duration
	warn     func(c claims.Claim, ahead time.Duration)

	// Only the caller of Pass uses listed and behind. listed is when the leases were read
	// last, and behind is true if the last pass left some of them to the next one.
	listed time.Time
	behind bool
}

// NewLeaseWarnings returns a LeaseWarnings. It calls warn, without holding a lock, once
// for each end of a lease, ahead of it by that time or by a quarter of a shorter lease. If
// ahead is 0 it does nothing.
func NewLeaseWarnings(v *Verifier, ahead time.Duration, warn func(c claims.Claim, ahead time.Duration)) *LeaseWarnings {
	return &LeaseWarnings{verifier: v, ahead: ahead, warn: warn}
}

// Ending reports whether a live Pod holds the claim and its lease ends soon. It never
// blocks, and does not use the table.
func (w *LeaseWarnings) Ending(c claims.Claim) bool {
	return c.State == claims.Bound && c.LeaseEnding(w.ahead, time.Now()) && !w.verifier.pods.HasNoPod(c) && !w.verifier.pods.HolderTerminated(c)
}

// Pass warns of the leases that end soon. They are read from sandboxd first, because it
// can have extended them; while it cannot be listed, nobody is warned. Only one goroutine
// may call it.
func (w *LeaseWarnings) Pass(ctx context.Context) {
	ending := w.verifier.table.Select(w.Ending)
	if len(ending) == 0 || !slices.ContainsFunc(ending, notWarned) && time.Since(w.listed) < endingReread {
		return
	}
	l, err := w.verifier.index.List(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("leases end soon; waiting for sandboxd to confirm", "claims", len(ending), "err", err)
		return
	}
	w.listed = time.Now()
	w.verifier.confirmListed(ctx, l)
	due := w.verifier.table.Select(func(c claims.Claim) bool { return notWarned(c) && w.Ending(c) })
	w.warnOf(ctx, slices.DeleteFunc(due, func(c claims.Claim) bool { _, listed := l[c.ID]; return !listed }))
}

func notWarned(c claims.Claim) bool { return !c.WarnedOf.Equal(c.LeaseEnd()) }

// warnOf warns of the first leases to end.
func (w *LeaseWarnings) warnOf(ctx context.Context, due []claims.Claim) {
	slices.SortFunc(due, func(a, b claims.Claim) int { return a.LeaseEnd().Compare(b.LeaseEnd()) })
	if len(due) > 0 && !w.behind {
		klog.FromContext(ctx).Info("leases of running pods end soon", "claims", len(due), "firstEnd", due[0].LeaseEnd())
	}
	w.behind = len(due) > warnMost
	due = due[:min(len(due), warnMost)]
	if len(due) == 0 {
		return
	}
	if err := w.verifier.table.MarkWarned(due); err != nil {
		klog.FromContext(ctx).V(2).Info("the leases that were warned of are not in the claims file yet", "err", err)
	}
	for _, c := range due {
		w.warn(c, c.WarningTime(w.ahead))
	}
}
