// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

var here = claims.Place{Cluster: "cluster-1", Host: "host-1"}

// A place that was recorded survives a crash, every later write, and the older
// build's way of keeping what it does not know.
func TestPlaceIsDurable(t *testing.T) {
	for _, file := range []string{"2026-07-first.json", "2026-08-contract.json", "later-build.json"} {
		t.Run(file, func(t *testing.T) {
			fsys := put(t, file)
			table := open(t, fsys)
			before := credentials(table)
			if got := table.Place(); got != (claims.Place{}) {
				t.Errorf("an older table has the place %+v, want none", got)
			}
			if err := table.SetPlace(here); err != nil {
				t.Fatal(err)
			}
			fsys.Crash()
			fsys.Reboot(nil)
			table = open(t, fsys)
			mustAdd(t, table, "default/new", "sb_new", "pod-new")
			if err := table.Forget("default/new", "sb_new"); err != nil {
				t.Fatal(err)
			}
			again := open(t, fsys)
			if got := again.Place(); got != here {
				t.Errorf("place after a crash and more writes: %+v, want %+v", got, here)
			}
			if got, err := claimfile.ReadPlace(fsys, path); err != nil || got != here {
				t.Errorf("ReadPlace = %+v, %v", got, err)
			}
			if diff := cmp.Diff(before, credentials(again)); diff != "" {
				t.Errorf("credentials (-before +after):\n%s", diff)
			}
		})
	}
}

// What is in the place field is never taken for a table without a place, and
// stays in the file until a place is set.
func TestOddPlaces(t *testing.T) {
	unreadable := claims.Place{Cluster: claims.UnreadableCluster}
	for name, tc := range map[string]struct {
		place string
		want  claims.Place
	}{
		"both":           {`{"cluster":"c","host":"h"}`, claims.Place{Cluster: "c", Host: "h"}},
		"cluster alone":  {`{"cluster":"c"}`, claims.Place{Cluster: "c"}},
		"host alone":     {`{"host":"h"}`, claims.Place{Host: "h"}},
		"later build":    {`{"cluster":"c","zone":["z"]}`, claims.Place{Cluster: "c"}},
		"null":           {`null`, unreadable},
		"empty object":   {`{}`, unreadable},
		"empty text":     {`{"cluster":"","host":""}`, unreadable},
		"other fields":   {`{"zone":"z"}`, unreadable},
		"number":         {`7`, unreadable},
		"list":           {`["c"]`, unreadable},
		"cluster object": {`{"cluster":{"uid":"c"},"host":"h"}`, unreadable},
		"host number":    {`{"cluster":"c","host":1}`, unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fileOf([]byte(`{"claims":{"a/1":{"id":"sb_1","token":"t","address":"h:1","podUID":"p"}},"place":` + tc.place + `}`))
			table := open(t, fsys)
			if got := table.Place(); got != tc.want {
				t.Errorf("place %+v, want %+v", got, tc.want)
			}
			if got := credentials(table); !slices.Equal(got, []string{"sb_1 t"}) {
				t.Errorf("the rows of such a table: %v", got)
			}
			if diff := cmp.Diff(decoded(t, tc.place), placeOf(t, fsys)); diff != "" {
				t.Errorf("place field after a write (-before +after):\n%s", diff)
			}
			if err := table.SetPlace(here); err != nil {
				t.Fatal(err)
			}
			if got := open(t, fsys).Place(); got != here {
				t.Errorf("place after setting it: %+v", got)
			}
		})
	}
}

// A field that another build wrote into the place outlives a change of it.
func TestUnknownFieldsOfThePlaceSurvive(t *testing.T) {
	fsys := fileOf([]byte(`{"claims":{},"place":{"cluster":"c","zone":["z"]}}`))
	if err := open(t, fsys).SetPlace(here); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, `{"cluster":"cluster-1","host":"host-1","zone":["z"]}`), placeOf(t, fsys)); diff != "" {
		t.Errorf("place field (-want +got):\n%s", diff)
	}
}

func placeOf(t *testing.T, fsys *faultfs.FS) any {
	t.Helper()
	data, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, ok := decoded(t, string(data)).(map[string]any)
	if !ok {
		t.Fatalf("the file is no object: %s", data)
	}
	return file["place"]
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}
