// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakes

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// TablePath is the file of the table of [OpenTable].
const TablePath = "/state/claims.json"

// OpenTable loads the claims table of a file system, as a start does.
func OpenTable(t *testing.T, fs claimfile.FS) *claims.Table {
	t.Helper()
	return OpenTableAt(t, fs, time.Now())
}

// OpenTableAt is [OpenTable] at another time.
func OpenTableAt(t *testing.T, fs claimfile.FS, now time.Time) *claims.Table {
	t.Helper()
	table, err := claims.Open(claimfile.New(fs, TablePath), now)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return table
}

// NewRow is a claim made at that time for a Pod that a Sandbox controls, with a lease of a
// day.
func NewRow(id string, pod types.UID, at time.Time) claims.Row {
	return claims.NewRow(sandboxd.Claim{
		ID: id, Token: sandboxd.NewToken("token-of-" + id), OwnerAddr: "10.0.0.5:7777", Deadline: at.Add(24 * time.Hour),
	}, claims.Holder{PodUID: pod, Controller: &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "a", UID: "owner-1"}}, at)
}
