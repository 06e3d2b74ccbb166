// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// OrphanScan compares sandboxd's index with the table. It only reports, because a scan
// cannot know what a user wants. A finding counts when two consecutive passes have it:
// while a claim is in progress, its sandbox looks like a stray. A finding is logged when
// it appears and when it disappears.
type OrphanScan struct {
	index *Index

	// Only the caller of Pass uses last and reported. last has the findings of the last
	// pass, by sandbox id.
	last, reported map[string]Finding

	mu    sync.Mutex
	audit Audit
}

// NewOrphanScan returns a scan without findings.
func NewOrphanScan(index *Index) *OrphanScan { return &OrphanScan{index: index} }

// Audit returns the result of the last pass. It never blocks.
func (o *OrphanScan) Audit() Audit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audit
}

// Pass compares once. If the list fails, the whole pass is skipped: a failed list is not
// an empty list. Only one goroutine may call it.
func (o *OrphanScan) Pass(ctx context.Context) {
	logger := klog.FromContext(ctx)
	// The table is read before and after the listing: a claim made or released in between
	// is neither an orphan nor stale.
	before := o.index.Claims()
	l, err := o.index.List(ctx)
	if err != nil {
		logger.V(2).Info("orphan scan skipped: sandboxd cannot be listed", "err", err)
		return
	}
	after := o.index.Claims()
	found := compare(l, before, after)
	reported := map[string]Finding{}
	for id, f := range found {
		if o.last[id] != f {
			continue
		}
		reported[id] = f
		if o.reported[id] != f {
			logger.Info("orphan scan: "+f.text(), "claim", id, "key", after[id].Key, "claimRef", l[id].ClaimRef)
		}
	}
	for id, f := range o.reported {
		if _, still := found[id]; !still {
			logger.Info("orphan scan: finding is gone", "claim", id, "was", string(f))
		}
	}
	o.last, o.reported = found, reported
	o.record(reported, time.Now())
}

func (o *OrphanScan) record(reported map[string]Finding, at time.Time) {
	counts := map[Finding]int{}
	for _, f := range reported {
		counts[f]++
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audit = Audit{At: at, Counts: counts}
}

func compare(l Listing, before, after map[string]claims.Claim) map[string]Finding {
	found := map[string]Finding{}
	keys := map[string]bool{}
	ofOwner := map[types.UID]string{}
	for id, c := range after {
		keys[c.Key] = true
		if c.Controller == nil || c.State == claims.Releasing {
			continue
		}
		if other, twice := ofOwner[c.Controller.UID]; twice {
			found[id], found[other] = Shared, Shared
		}
		ofOwner[c.Controller.UID] = id
	}
	// A claim can be both Stale and Shared; Stale wins.
	for id := range after {
		_, known := before[id]
		if _, listed := l[id]; known && !listed {
			found[id] = Stale
		}
	}
	for id, s := range l {
		if _, ours := after[id]; ours {
			continue
		}
		if _, ours := before[id]; ours {
			continue
		}
		found[id] = classify(s, keys)
	}
	return found
}

func classify(s sandboxd.Sandbox, keys map[string]bool) Finding {
	switch {
	case s.ClaimRef == "":
		return Orphan
	case keys[s.ClaimRef]:
		return Stray
	default:
		return External
	}
}
