// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// What claims, releases and publishes starts once the table is accepted, and not
// at all while it belongs elsewhere.
func TestAfterAdmission(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster clusterOf
		runs    bool
	}{
		"its own cluster": {"cluster", true},
		"another cluster": {"another-cluster", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, err := claims.Open(claimfile.New(faultfs.New(), "/state/claims.json"), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if err := table.SetPlace(claims.Place{Cluster: "cluster"}); err != nil {
					t.Fatal(err)
				}
				guard := place.New(place.Config{Table: table, Cluster: tc.cluster, FS: faultfs.New(), StatePath: "/state/claims.json"})
				ctx, cancel := context.WithCancel(t.Context())
				ran, ended := false, make(chan error, 2)
				go func() {
					ended <- afterAdmission(ctx, guard, func(ctx context.Context) error { ran = true; <-ctx.Done(); return nil })
				}()
				time.Sleep(time.Minute)
				synctest.Wait()
				if ran {
					t.Error("at work before the guard has looked")
				}
				go func() { ended <- guard.Run(ctx) }()
				time.Sleep(time.Hour)
				synctest.Wait()
				if ran != tc.runs {
					t.Errorf("at work: %v, want %v", ran, tc.runs)
				}
				cancel()
				for range cap(ended) {
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
