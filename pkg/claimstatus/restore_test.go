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
	clienttesting "k8s.io/client-go/testing"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

var resourceOf = api.SchemeGroupVersion.WithResource("nodeclaimstatuses")

// restore makes the API server's object the one of a backup; nil for none. Its
// versions go on from the backup's. No watch tells of it.
func (h *harness) restore(t *testing.T, object *api.NodeClaimStatus) {
	t.Helper()
	h.endWatches()
	synctest.Wait()
	if err := h.client.Tracker().Delete(resourceOf, "", nodeName); err != nil {
		t.Fatal(err)
	}
	h.change(func() { h.version = 1 })
	if object == nil {
		return
	}
	object.ResourceVersion = "1"
	if err := h.client.Tracker().Add(object); err != nil {
		t.Fatal(err)
	}
}

// An API server that was restored from a backup has versions lower than those
// that were seen, and says nothing about what it forgot.
func TestAfterARestoreTheObjectIsRightWithinAnInterval(t *testing.T) {
	older := func(o *api.NodeClaimStatus) *api.NodeClaimStatus {
		o.Status.Claims = []api.NodeClaim{{Pod: "default/before", ID: "sb_before", State: api.ClaimBound}}
		return o
	}
	tests := []struct {
		name    string
		restore func(h *harness, o *api.NodeClaimStatus) *api.NodeClaimStatus
		owner   types.UID // of the Node after the restore
	}{
		{"an older state", func(_ *harness, o *api.NodeClaimStatus) *api.NodeClaimStatus { return older(o) }, firstUID},
		{"no object", func(*harness, *api.NodeClaimStatus) *api.NodeClaimStatus { return nil }, firstUID},
		{"an object with another UID", func(_ *harness, o *api.NodeClaimStatus) *api.NodeClaimStatus {
			o.UID = "another"
			return older(o)
		}, firstUID},
		{"an object of an older Node, which is registered again", func(h *harness, o *api.NodeClaimStatus) *api.NodeClaimStatus {
			h.change(func() { h.nodeUID = secondUID })
			return o
		}, secondUID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.start(t)
				for _, name := range []string{"b", "c"} {
					h.move(func() { h.table.claims = append(h.table.claims, claim(name, claims.Bound)) })
					pass(2 * interval)
				}
				good := h.stored(t)
				h.restore(t, tt.restore(h, h.stored(t)))
				pass(interval * 11 / 10)

				got := h.stored(t)
				if diff := cmp.Diff(pods(good), pods(got)); diff != "" {
					t.Errorf("claims (-before the restore +after):\n%s", diff)
				}
				if diff := cmp.Diff(owners(tt.owner), got.OwnerReferences); diff != "" {
					t.Errorf("owners (-want +got):\n%s", diff)
				}
				// The new versions count from here on: an edit is put back as ever,
				// and then nothing is written.
				h.update(t, func(o *api.NodeClaimStatus) { o.Status.Claims = nil })
				pass(2 * interval)
				if diff := cmp.Diff(pods(good), pods(h.stored(t))); diff != "" {
					t.Errorf("claims after an edit (-want +got):\n%s", diff)
				}
				settled := len(h.applies())
				pass(time.Hour)
				if n := len(h.applies()) - settled; n > 0 {
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
				away := false
				h.client.PrependReactor("get", "nodeclaimstatuses", func(clienttesting.Action) (bool, runtime.Object, error) {
					h.mu.Lock()
					defer h.mu.Unlock()
					return away, nil, errors.New("connection refused")
				})
				h.start(t)
				backup := h.stored(t)
				backup.Status.Claims = nil
				down := errors.New("connection refused")
				h.change(func() { away, h.watchErr, h.applyErr = true, down, down })
				h.endWatches()
				if tt.changed {
					h.move(func() { h.table.claims = append(h.table.claims, claim("b", claims.Bound)) })
				}
				pass(time.Hour + 7*time.Second)
				h.restore(t, backup)
				h.change(func() { away, h.watchErr, h.applyErr = false, nil, nil })
				pass(interval * 11 / 10)

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
		if _, err := p.publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	late := h.stored(t)
	late.ResourceVersion = "1"
	late.Status.Claims = nil
	for _, s := range []sight{{object: late}, {object: late, gone: true}} {
		p.record.observe(s)
		if !p.record.doubtful {
			t.Error("an older version with another content is taken for the present one")
		}
		published, err := p.publish(t.Context())
		if published != nil || err != nil {
			t.Errorf("published %v, %v", published, err)
		}
	}
}
