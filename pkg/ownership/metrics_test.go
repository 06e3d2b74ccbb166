// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

// fixedDecider returns the same decision for every owner and Pod.
type fixedDecider struct{ d ownership.Decision }

func (f fixedDecider) Owner(context.Context, string, claims.Owner) ownership.Decision { return f.d }
func (f fixedDecider) Pod(context.Context, string, string, types.UID) ownership.Decision {
	return f.d
}

func TestMetrics(t *testing.T) {
	m := metrics.NewRegistry("")
	count := ownership.NewMetrics(m).Count
	verdicts := map[ownership.Cause]string{
		ownership.Gone: "release", ownership.Replaced: "release", ownership.Deleting: "release", ownership.Expired: "release",
		ownership.Alive: "preserve", ownership.Unverifiable: "preserve", ownership.Unreadable: "preserve",
	}
	if got := slices.Sorted(slices.Values(ownership.Causes())); !slices.Equal(got, slices.Sorted(maps.Keys(verdicts))) {
		t.Errorf("causes are %q; give each its verdict here", got)
	}
	for cause, verdict := range verdicts {
		scrape.Read(t, m.Handler()).Want(t, map[string]string{"owner_verdicts_total{cause=\"" + string(cause) + "\",verdict=\"" + verdict + "\"}": "0"})
		d := ownership.Decision{Release: verdict == "release", Cause: cause, Reason: "why"}
		counted := count(fixedDecider{d})
		if counted.Owner(t.Context(), "ns", claims.Owner{}) != d || counted.Pod(t.Context(), "ns", "a", "uid") != d {
			t.Error("the verdict has changed on its way")
		}
		scrape.Read(t, m.Handler()).Want(t, map[string]string{"owner_verdicts_total{cause=\"" + string(cause) + "\",verdict=\"" + verdict + "\"}": "2"})
	}
}
