// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// What ReplaceFile has reported as written survives a crash. What failed leaves the old
// file, and only a failure after the rename lets readers see the new one.
func TestReplaceFile(t *testing.T) {
	fault := errors.New("input/output error")
	for _, tc := range []struct {
		op       faultfs.Op
		read     string // what processes read after the failure
		unsynced bool
	}{
		{op: "", read: "new"},
		{op: faultfs.OpCreate, read: "old"},
		{op: faultfs.OpWrite, read: "old"},
		{op: faultfs.OpSync, read: "old"},
		{op: faultfs.OpClose, read: "old"},
		{op: faultfs.OpRename, read: "old"},
		{op: faultfs.OpSyncDir, read: "new", unsynced: true},
	} {
		t.Run("failing "+string(tc.op), func(t *testing.T) {
			fsys := faultfs.New()
			if err := claimfile.ReplaceFile(fsys, path, []byte("old")); err != nil {
				t.Fatal(err)
			}
			fsys.SetFault(func(op faultfs.Op) error {
				if op == tc.op {
					return fault
				}
				return nil
			})
			err := claimfile.ReplaceFile(fsys, path, []byte("new"))
			if failed := tc.op != ""; errors.Is(err, fault) != failed || (err != nil) != failed {
				t.Errorf("error %v", err)
			}
			if errors.Is(err, claims.ErrUnsynced) != tc.unsynced {
				t.Errorf("error %v, want one that is ErrUnsynced: %v", err, tc.unsynced)
			}
			if got := content(t, fsys); got != tc.read {
				t.Errorf("the file has %q, want %q", got, tc.read)
			}
			if names := fsys.Names(); !slices.Equal(names, []string{path}) {
				t.Errorf("files %q, want no temporary one", names)
			}
			after := "old"
			if err == nil {
				after = "new"
			}
			fsys.Crash()
			fsys.Reboot(nil)
			if got := content(t, fsys); got != after {
				t.Errorf("after a crash the file has %q, want %q", got, after)
			}
		})
	}
}

func content(t *testing.T, fsys *faultfs.FS) string {
	t.Helper()
	data, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
