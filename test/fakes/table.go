// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakes

import (
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// TablePath is the file of the table of [OpenTable].
const TablePath = "/state/claims.json"

// OpenTable loads the claims table of a file system, as a start does.
func OpenTable(t *testing.T, fs *faultfs.FS) *claims.Table {
	t.Helper()
	table, err := claims.Open(claimfile.New(fs, TablePath), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return table
}
