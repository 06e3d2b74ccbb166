// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const path = "/state/claims.json"

var start = time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)

func open(t *testing.T, fsys claimfile.FS) *claims.Table {
	t.Helper()
	table, err := claims.Open(claimfile.New(fsys, path), start)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return table
}

func row(id string, pod types.UID) claims.Row {
	return claims.NewRow(sandboxd.Claim{
		ID: id, Token: sandboxd.NewToken("token-of-" + id), OwnerAddr: "10.0.0.5:7777", Deadline: start.Add(24 * time.Hour),
	}, claims.Holder{PodUID: pod, Controller: &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "a", UID: "owner-1"}}, start)
}

func mustAdd(t *testing.T, table *claims.Table, key, id string, pod types.UID) {
	t.Helper()
	if err := table.Add(key, row(id, pod), nil); err != nil {
		t.Fatalf("add %s: %v", key, err)
	}
}

func put(t *testing.T, golden string) *faultfs.FS {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", golden))
	if err != nil {
		t.Fatal(err)
	}
	fsys := faultfs.New()
	fsys.Put(path, data)
	return fsys
}

func fileOf(data []byte) *faultfs.FS {
	fsys := faultfs.New()
	fsys.Put(path, data)
	return fsys
}

// credentials is every sandbox and token that the table holds, in its order.
func credentials(table *claims.Table) []string {
	var out []string
	for _, c := range append(table.List(), table.Releasing()...) {
		out = append(out, c.ID+" "+c.Token.Reveal())
	}
	return out
}
