// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

var here = claims.Place{Cluster: "cluster-1", Host: "host-1"}

// A place whose write failed is not recorded: a daemon that acted on it would
// find another one after a restart.
func TestPlaceOfAFailedWrite(t *testing.T) {
	for _, op := range faultfs.Ops {
		t.Run(string(op), func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			fsys.SetFault(func(at faultfs.Op) error {
				if at == op {
					return errDiskFull
				}
				return nil
			})
			if err := table.SetPlace(here); !errors.Is(err, errDiskFull) {
				t.Fatalf("set the place with a failing %s: %v", op, err)
			}
			if got := table.Place(); got != (claims.Place{}) {
				t.Errorf("place %+v after a failed write, want none", got)
			}
			fsys.SetFault(nil)
			if err := table.SetPlace(here); err != nil {
				t.Fatal(err)
			}
			if got := open(t, fsys).Place(); got != here {
				t.Errorf("place once the disk works: %+v", got)
			}
		})
	}
	if err := open(t, faultfs.New()).SetPlace(claims.Place{}); err == nil {
		t.Error("a place without cluster and host was recorded")
	}
}
