// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// orphanScan compares the node's index with the table. It only reports:
// background reconciliation cannot prove what a user wants (architecture,
// "Audit-only orphan scan"). A finding counts when two passes in a row have it:
// a claim whose answer is on its way looks like a stray to one of them. It is
// logged when it comes and when it goes.
type orphanScan struct {
	provider *Provider
	last     map[string]Finding // of the last pass, by sandbox id
	reported map[string]Finding
}

// pass is one comparison. A list that failed is not an empty list: the whole
// pass is skipped.
func (o *orphanScan) pass(ctx context.Context) {
	logger := klog.FromContext(ctx)
	// The table is read on both sides of the listing: a claim made or
	// released meanwhile is neither an orphan nor stale.
	before := o.provider.claimIDs()
	l, err := o.provider.list(ctx)
	if err != nil {
		logger.V(2).Info("orphan scan skipped: sandboxd cannot be listed", "err", err)
		return
	}
	after := o.provider.claimIDs()
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
			logger.Info("orphan scan: no longer so", "claim", id, "was", string(f))
		}
	}
	o.last, o.reported = found, reported
	o.provider.audit.record(reported, time.Now())
}

// claimIDs is every claim of the table, by sandbox id.
func (p *Provider) claimIDs() map[string]claims.Claim {
	out := map[string]claims.Claim{}
	for _, c := range append(p.table.List(), p.table.Releasing()...) {
		out[c.ID] = c
	}
	return out
}

func compare(l listing, before, after map[string]claims.Claim) map[string]Finding {
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
	// A claim can be both: that its sandbox is missing weighs more.
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
