// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// A store without a file is an empty table, and reading it makes no file.
func TestLoadWithoutAFile(t *testing.T) {
	fsys := faultfs.New()
	stored, place, err := claimfile.New(fsys, path).Load()
	if err != nil || len(stored) != 0 || place != (claims.Place{}) {
		t.Errorf("Load = %v, %+v, %v; want an empty table", stored, place, err)
	}
	if names := fsys.Names(); len(names) != 0 {
		t.Errorf("files %q, want none", names)
	}
}

// What one store writes, another one loads, in the order of the table.
func TestLoadReturnsWhatWasWritten(t *testing.T) {
	fsys := faultfs.New()
	store := claimfile.New(fsys, path)
	owner := &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "b", UID: "owner-2"}
	bound, preserved, releasing := row("sb_1", "pod-1"), row("sb_2", "pod-2"), row("sb_3", "pod-3")
	preserved.Owner = owner
	want := []claims.Claim{
		{Key: "default/a", Row: bound, State: claims.Bound},
		{Key: "default/b", Row: preserved, State: claims.Preserved},
		{Key: "default/a", Row: releasing, State: claims.Releasing},
	}
	records := make([]claims.Record, 0, len(want))
	for _, c := range want {
		record, err := store.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	here := claims.Place{Cluster: "cluster-1", Host: "host-1"}
	// The second write is shorter: nothing of the first is left behind it.
	for _, held := range []int{2, 1} {
		err := store.Write(claims.Snapshot{Claims: records[:held], Releasing: records[2:], Place: here})
		if err != nil {
			t.Fatal(err)
		}
		stored, place, err := claimfile.New(fsys, path).Load()
		if err != nil || place != here {
			t.Fatalf("place %+v, %v", place, err)
		}
		sameToken := cmp.Comparer(func(a, b sandboxd.Token) bool { return a.Reveal() == b.Reveal() })
		if diff := cmp.Diff(append(want[:held:held], want[2]), stored, sameToken); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
	}
}

// A store that loads its file again does not write a later build's fields twice.
func TestLoadTwice(t *testing.T) {
	fsys := put(t, "later-build.json")
	store := claimfile.New(fsys, path)
	for range 2 {
		if _, _, err := store.Load(); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Write(claims.Snapshot{}); err != nil {
		t.Fatal(err)
	}
	want := `{"claims":{},"audit":["x"],"schema":99}`
	if diff := cmp.Diff(want, content(t, fsys)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}
