// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// A row with its id and token loads although its address or a time cannot be
// read, and keeps what it could not read until there is a value for it.
func TestUnreadableOptionalField(t *testing.T) {
	for _, c := range []struct{ name, field, value string }{
		{"deadline that is no time", "deadline", `"soon"`},
		{"empty deadline", "deadline", `""`},
		{"deadline that is a number", "deadline", `1785204900`},
		{"claim time that is a list", "claimedAt", `["2026-07-27T02:15:00Z"]`},
		{"lease that moved at a number", "leaseMovedAt", `7`},
		{"warning of a text", "warnedOf", `"soon"`},
		{"random name that is a text", "randomName", `"yes"`},
		{"deletion that is a boolean", "podDeletedAt", `true`},
		{"address that is an object", "address", `{"host":"10.0.0.5"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fileOf([]byte(`{"claims":{"a/2":{"id":"sb_2","token":"t2","address":"h:1","podUID":"q"}},` +
				`"releasing":[{"id":"sb_1","token":"t1","podUID":"p","key":"a/1","` + c.field + `":` + c.value + `}]}`))
			for range 2 {
				table := open(t, fsys)
				if got := credentials(table); !slices.Equal(got, []string{"sb_2 t2", "sb_1 t1"}) {
					t.Fatalf("credentials %v", got)
				}
				r := table.Releasing()[0]
				if r.PodUID != "p" || r.Key != "a/1" || !r.Deadline.IsZero() || r.Address != "" || r.RandomName || !r.PodDeletedAt.IsZero() {
					t.Errorf("row %+v", r)
				}
			}
			if got := fieldOf(t, fsys, c.field); got != c.value {
				t.Errorf("the file has %s for %s, want %s as it came", got, c.field, c.value)
			}
		})
	}
	fsys := fileOf([]byte(`{"claims":{"a/1":{"id":"sb_1","token":"t","podUID":"p","deadline":"soon","claimedAt":7}}}`))
	table := open(t, fsys)
	if err := table.ConfirmListed([]claims.Listed{{ID: "sb_1", Deadline: start}}); err != nil {
		t.Fatal(err)
	}
	c, _ := open(t, fsys).Get("a/1")
	if !c.Deadline.Equal(start) || !c.ClaimedAt.Equal(start) {
		t.Errorf("deadline %v, claimed at %v; want both known by now", c.Deadline, c.ClaimedAt)
	}
}

// fieldOf is a field of the first releasing row in the file.
func fieldOf(t *testing.T, fsys *faultfs.FS, field string) string {
	t.Helper()
	data, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Releasing []map[string]json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return string(file.Releasing[0][field])
}

// Go reads this deadline, and refuses to write it.
func TestDeadlineThatGoRefusesToWrite(t *testing.T) {
	if _, err := claims.Open(claimfile.New(fileOf([]byte(`{"claims":{"a/1":{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00+24:00"}}}`)), path), start); err != nil {
		t.Errorf("the file is refused: %v", err)
	}
}
