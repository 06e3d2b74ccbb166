// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// Before the sandbox of a failed Add is returned, EnsureDurable takes the claim out of the
// file. It writes only if the file can have the claim.
func TestEnsureDurable(t *testing.T) {
	for _, tc := range []struct {
		failing faultfs.Op
		writes  int
	}{
		{failing: faultfs.OpSync},
		{failing: faultfs.OpRename},
		{failing: faultfs.OpSyncDir, writes: 1},
	} {
		t.Run(string(tc.failing), func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			fsys.SetFault(func(op faultfs.Op) error {
				if op == tc.failing {
					return errDiskFull
				}
				return nil
			})
			if err := table.Add("default/a", row("sb_1", "pod-1"), nil); !errors.Is(err, errDiskFull) {
				t.Fatalf("add with a failing %s: %v", tc.failing, err)
			}
			if err := table.EnsureDurable(); (err != nil) != (tc.writes > 0) {
				t.Errorf("while the disk fails: %v", err)
			}
			fsys.SetFault(nil)
			before := fsys.Renames()
			for range 2 {
				if err := table.EnsureDurable(); err != nil {
					t.Errorf("once the disk works: %v", err)
				}
			}
			if got := fsys.Renames() - before; got != tc.writes {
				t.Errorf("%d writes, want %d", got, tc.writes)
			}
			if c, held := open(t, fsys).Get("default/a"); held {
				t.Errorf("a daemon that starts now adopts %s", c.ID)
			}
		})
	}
}

// memory is a store without a disk.
type memory struct {
	stored  []claims.Claim
	loadErr error
	err     error // of Encode
	writes  int
}

func (m *memory) Load() ([]claims.Claim, claims.Place, error) {
	return m.stored, claims.Place{}, m.loadErr
}

func (m *memory) Encode(c claims.Claim) (claims.Record, error) { return []byte(c.ID), m.err }

func (m *memory) Write(claims.Snapshot) error {
	m.writes++
	return nil
}

// A store that cannot be read, or whose claims cannot be encoded, is not written.
func TestOpenLeavesAStoreThatItCannotRead(t *testing.T) {
	fault := errors.New("fault")
	stored := []claims.Claim{{Key: "default/a", Row: row("sb_1", "pod-1"), State: claims.Bound}}
	for name, store := range map[string]*memory{
		"not readable":  {loadErr: fault},
		"not encodable": {stored: stored, err: fault},
	} {
		if _, err := claims.Open(store, start); !errors.Is(err, fault) || store.writes != 0 {
			t.Errorf("%s: error %v, %d writes; want the fault and none", name, err, store.writes)
		}
	}
}

// A claim that cannot be encoded does not take its key, and nothing is written.
func TestClaimThatCannotBeEncoded(t *testing.T) {
	store := &memory{}
	table, err := claims.Open(store, start)
	if err != nil {
		t.Fatal(err)
	}
	writes := store.writes
	store.err = errors.New("fault")
	if err := table.Add("default/a", row("sb_1", "pod-1"), nil); !errors.Is(err, store.err) {
		t.Errorf("error %v, want the fault", err)
	}
	if _, held := table.Get("default/a"); held || store.writes != writes {
		t.Errorf("held %v, %d writes", held, store.writes-writes)
	}
}
