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
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const path = fakes.TablePath

var start = time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)

func open(t *testing.T, fsys claimfile.FS) *claims.Table {
	t.Helper()
	return fakes.OpenTableAt(t, fsys, start)
}

func row(id string, pod types.UID) claims.Row { return fakes.NewRow(id, pod, start) }

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
