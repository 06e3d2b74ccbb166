// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// An API server that was restored from a backup has versions lower than those
// that were seen, and says nothing about what it forgot.
func TestAfterARestoreTheObjectIsRightWithinAnInterval(t *testing.T) {
	older := func(o *api.NodeClaimStatus) *api.NodeClaimStatus {
		o.Status.Claims = []api.NodeClaim{{Pod: "default/before", ID: "sb_before", State: api.ClaimBound}}
		return o
	}
	tests := []struct {
		name    string
		restore func(h *harness, o *api.NodeClaimStatus) runtime.Object
		owner   types.UID // of the Node after the restore
	}{
		{"an older state", func(_ *harness, o *api.NodeClaimStatus) runtime.Object { return older(o) }, fakeapi.FirstUID},
		{"no object", func(*harness, *api.NodeClaimStatus) runtime.Object { return nil }, fakeapi.FirstUID},
		{"an object with another UID", func(_ *harness, o *api.NodeClaimStatus) runtime.Object {
			o.UID = "another"
			return older(o)
		}, fakeapi.FirstUID},
		{"an object of an older Node, which is registered again", func(h *harness, o *api.NodeClaimStatus) runtime.Object {
			h.change(func() { h.NodeUID = fakeapi.SecondUID })
			return o
		}, fakeapi.SecondUID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				for _, name := range []string{"b", "c"} {
					h.move(func() { h.table.claims = append(h.table.claims, claim(name, claims.Bound)) })
					fakeapi.Pass(2 * interval)
				}
				good := h.stored(t)
				h.Restore(t, tt.restore(h, h.stored(t)))
				fakeapi.Pass(interval * 11 / 10)

				got := h.stored(t)
				if diff := cmp.Diff(pods(good), pods(got)); diff != "" {
					t.Errorf("claims (-before the restore +after):\n%s", diff)
				}
				fakeapi.CheckOwner(t, got, tt.owner, "after the restore")
				// The new versions count from here on: an edit is put back as ever,
				// and then nothing is written.
				h.update(t, func(o *api.NodeClaimStatus) { o.Status.Claims = nil })
				fakeapi.Pass(2 * interval)
				if diff := cmp.Diff(pods(good), pods(h.stored(t))); diff != "" {
					t.Errorf("claims after an edit (-want +got):\n%s", diff)
				}
				applied := len(h.Applies())
				fakeapi.Pass(time.Hour)
				if n := len(h.Applies()) - applied; n > 0 {
					t.Errorf("%d applies in the hour after", n)
				}
			})
		})
	}
}

// The API server may be away for long before it is back with the backup, while
// the table changes.
func TestAfterALongOutageTheObjectIsRightWithinAnInterval(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changed bool
	}{{"the table is as it was", false}, {"the table has changed", true}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				backup := h.stored(t)
				backup.Status.Claims = nil
				down := errors.New("connection refused")
				h.change(func() { h.GetErr, h.WatchErr, h.ApplyErr = down, down, down })
				h.EndWatches()
				if tt.changed {
					h.move(func() { h.table.claims = append(h.table.claims, claim("b", claims.Bound)) })
				}
				fakeapi.Pass(time.Hour + 7*time.Second)
				h.Restore(t, backup)
				h.change(func() { h.GetErr, h.WatchErr, h.ApplyErr = nil, nil, nil })
				fakeapi.Pass(interval * 11 / 10)

				want := []string{"team-red/a Bound"}
				if tt.changed {
					want = append(want, "team-red/b Bound")
				}
				if diff := cmp.Diff(want, pods(h.stored(t))); diff != "" {
					t.Errorf("claims (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A late event of an own write is no reason to write.
func TestALateEventCausesNoPublication(t *testing.T) {
	h := newHarness()
	p := h.publisher(t)
	for _, name := range []string{"b", "c"} {
		h.change(func() { h.table.claims = append(h.table.claims, claim(name, claims.Bound)) })
		if _, err := p.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	late := h.stored(t)
	late.ResourceVersion = "1"
	late.Status.Claims = nil
	for _, s := range []observation{{object: late}, {object: late, gone: true}} {
		p.source.record.observe(s)
		if !p.source.record.doubtful {
			t.Error("an older version with another content is taken for the present one")
		}
		published, err := p.Publish(t.Context())
		if published != nil || err != nil {
			t.Errorf("published %v, %v", published, err)
		}
	}
}
