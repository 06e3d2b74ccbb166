// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

func TestWhichObjectsAnEventIsAbout(t *testing.T) {
	owned, bare := fakes.NewPod("a", "P1", "S"), fakes.NewPod("a", "P1", "")
	claim := claims.Claim{Key: "agents/a", Row: claims.Row{PodUID: "P1", Controller: &claims.Owner{Kind: "Sandbox", Name: "of-S"}}}
	preserved := claim
	preserved.Owner = &claims.Owner{Kind: "Sandbox", Name: "of-T"}
	both := func(reason string) map[string][]string {
		return map[string][]string{"Pod/a": {reason}, "Sandbox/of-S": {reason}}
	}
	for name, tc := range map[string]struct {
		record func(*Recorder)
		want   map[string][]string
	}{
		"claimed":              {func(r *Recorder) { r.Claimed(owned) }, both(ReasonClaimed)},
		"claimed by a bare":    {func(r *Recorder) { r.Claimed(bare) }, map[string][]string{"Pod/a": {ReasonClaimed}}},
		"no address":           {func(r *Recorder) { r.AddressUnusable(owned, "no port") }, both(ReasonAddress)},
		"a debug container":    {func(r *Recorder) { r.DebugRefused(owned) }, map[string][]string{"Pod/a": {ReasonDebug}}},
		"adopted":              {func(r *Recorder) { r.Adopted(owned) }, both(ReasonAdopted)},
		"the kept one is lost": {func(r *Recorder) { r.KeptSandboxLost(owned) }, both(podstatus.ReasonLost)},
		"a Pod ended":          {func(r *Recorder) { r.PodEnded(owned, "Because", "") }, both("Because")},
		"a claim ended":        {func(r *Recorder) { r.ClaimEnded(claim, "Because", "") }, both("Because")},
		"preserved":            {func(r *Recorder) { r.Preserved(claim, ownership.Decision{}) }, both(ReasonPreserved)},
		"a lease ends soon":    {func(r *Recorder) { r.LeaseEnding(claim, time.Minute) }, both(ReasonLeaseEnding)},
		"unadoptable":          {func(r *Recorder) { r.Unadoptable(claim, time.Minute) }, both(ReasonUnadoptable)},
		"released":             {func(r *Recorder) { r.Released(claim, "its owner is gone") }, both(ReasonReleased)},
		"released later":       {func(r *Recorder) { r.Released(preserved, "its owner is gone") }, map[string][]string{"Pod/a": {ReasonReleased}, "Sandbox/of-T": {ReasonReleased}}},
		"refused":              {func(r *Recorder) { r.Refused(owned, errors.New("no")) }, map[string][]string{"Sandbox/of-S": {ReasonRefused}}},
		"refused to a bare":    {func(r *Recorder) { r.Refused(bare, errors.New("no")) }, map[string][]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			sink := &fakes.Events{}
			tc.record(NewRecorder(sink))
			got := map[string][]string{}
			for _, object := range []string{"Pod/a", "Sandbox/of-S", "Sandbox/of-T"} {
				if reasons := sink.Of(object); len(reasons) > 0 {
					got[object] = reasons
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
