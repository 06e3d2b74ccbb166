// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"cmp"
	"slices"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// order is the order of publication. Transient states come first, so that truncation does
// not leave out the claims that people look for.
var order = []api.ClaimState{api.ClaimTentative, api.ClaimQuarantined, api.ClaimReleasing, api.ClaimPreserved, api.ClaimBound}

// Summarize counts the rows and orders them for publication: by state, then by Pod, then
// by id. The caller adds the conditions and the times.
func Summarize(rows []api.NodeClaim) api.NodeClaimStatusStatus {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b api.NodeClaim) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)),
			cmp.Compare(a.Pod, b.Pod),
			cmp.Compare(a.ID, b.ID),
		)
	})
	var counts api.ClaimCounts
	for _, row := range rows {
		switch row.State {
		case api.ClaimBound:
			counts.Bound++
			if row.LeaseEnding {
				counts.LeaseEnding++
			}
		case api.ClaimPreserved:
			counts.Preserved++
			if row.Unadoptable {
				counts.Unadoptable++
			}
		case api.ClaimQuarantined:
			counts.Quarantined++
		case api.ClaimReleasing:
			counts.Releasing++
		case api.ClaimTentative:
			counts.Tentative++
		}
	}
	counts.Attention = counts.Quarantined + counts.Releasing + counts.Tentative
	return api.NodeClaimStatusStatus{Counts: &counts, Claims: rows}
}
