// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// released is what a provider was asked to release.
type released []time.Time

func (r *released) HeldClaims() int              { return 3 }
func (r *released) ReleaseHeld(before time.Time) { *r = append(*r, before) }

// A running daemon takes the approval of missing owners within 5 s, as of the time at
// which it was given; that of another place is not its to take.
func TestApprovalOfMissingOwnersIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const path = "/state/claims.json"
		fsys, provider := faultfs.New(), &released{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); watchApprovals(ctx, fsys, path, provider) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*provider) != 0 {
			t.Fatalf("released as of %v without an approval", *provider)
		}
		at := time.Now()
		for _, kind := range []approval.Kind{approval.Place, approval.MissingOwners} {
			if err := approval.Write(fsys, path, kind, approval.Approval{At: at}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(*provider) != 1 || !(*provider)[0].Equal(at) {
			t.Errorf("released as of %v, want once as of %v", *provider, at)
		}
		if _, found, err := approval.Read(fsys, path, approval.Place); !found || err != nil {
			t.Errorf("the approval of a place: %v, %v", found, err)
		}
		cancel()
		<-ended
	})
}
