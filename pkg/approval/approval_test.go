// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package approval_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const table = "/state/claims.json"

var given = approval.Approval{
	At:       time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC),
	Recorded: claims.Place{Cluster: "a", Host: "h"}, Present: claims.Place{Cluster: "b", Host: "h"},
}

func TestTakeIsOnce(t *testing.T) {
	fsys := faultfs.New()
	if err := approval.Write(fsys, table, approval.Place, given); err != nil {
		t.Fatal(err)
	}
	fsys.Crash()
	fsys.Reboot(nil)
	if _, found, err := approval.Take(fsys, table, approval.MissingOwners); found || err != nil {
		t.Errorf("an approval of another kind was taken: %v, %v", found, err)
	}
	for range 2 {
		got, found, err := approval.Read(fsys, table, approval.Place)
		if !found || err != nil || !cmp.Equal(given, got) {
			t.Fatalf("Read = %+v, %v, %v", got, found, err)
		}
	}
	got, found, err := approval.Take(fsys, table, approval.Place)
	if !found || err != nil || !cmp.Equal(given, got) {
		t.Fatalf("Take = %+v, %v, %v", got, found, err)
	}
	if got, found, err := approval.Take(fsys, table, approval.Place); found || err != nil {
		t.Errorf("taken a second time: %+v, %v, %v", got, found, err)
	}
}

func TestBothKindsAtOnce(t *testing.T) {
	fsys := faultfs.New()
	for _, kind := range []approval.Kind{approval.Place, approval.MissingOwners} {
		if err := approval.Write(fsys, table, kind, given); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []approval.Kind{approval.Place, approval.MissingOwners} {
		if _, found, err := approval.Take(fsys, table, kind); !found || err != nil {
			t.Errorf("%s: %v, %v", kind, found, err)
		}
	}
}

// What is not wholly an approval approves nothing.
func TestDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": `{"at":"2026-07-27T02:15:00Z"`, "null": "null", "no time": `{"recorded":{"cluster":"a"}}`, "list": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			fsys := faultfs.New()
			fsys.Put(approval.Path(table, approval.Place), []byte(text))
			if got, found, err := approval.Take(fsys, table, approval.Place); found || err == nil {
				t.Errorf("Take = %+v, %v, %v", got, found, err)
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	full := errors.New("disk full")
	fsys := faultfs.New()
	if err := approval.Write(fsys, table, approval.Place, given); err != nil {
		t.Fatal(err)
	}
	fsys.SetFault(func(faultfs.Op) error { return full })
	if err := approval.Write(fsys, table, approval.MissingOwners, given); !errors.Is(err, full) {
		t.Errorf("Write = %v", err)
	}
	stubborn := stubborn{fsys, full}
	if _, found, err := approval.Take(stubborn, table, approval.Place); found || !errors.Is(err, full) {
		t.Errorf("an approval that stays in place was given out: %v, %v", found, err)
	}
}

// stubborn is a file system that removes nothing.
type stubborn struct {
	claimfile.FS
	err error
}

func (s stubborn) Remove(string) error { return s.err }

func TestModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := approval.Write(claimfile.OS(), file, approval.Place, given); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file + ".approval-place")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file %v, %v; want mode 0600", info, err)
	}
}
