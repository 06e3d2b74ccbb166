// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
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
		{"address that is an object", "address", `{"host":"10.0.0.5"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fileOf([]byte(`{"claims":{"a/2":{"id":"sb_2","token":"t2","address":"h:1","podUID":"q"}},` +
				`"releasing":[{"id":"sb_1","token":"t1","podUID":"p","key":"a/1","` + c.field + `":` + c.value + `}]}`))
			for range 2 {
				table := open(t, fsys)
				if got := tokens(table); got["sb_1"] != "t1" || got["sb_2"] != "t2" {
					t.Fatalf("credentials %v", got)
				}
				r := table.Releasing()[0]
				if r.PodUID != "p" || r.Key != "a/1" || !r.Deadline.IsZero() || r.Address != "" {
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
	if err := table.ConfirmListed([]claims.Seen{{ID: "sb_1", Deadline: start}}); err != nil {
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

// A time that RFC 3339 cannot express costs the time and never the row: not in
// memory, not in the file, not at the next start.
func TestTimesThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Time
		want time.Time
	}{
		{"an offset of 24 hours", start.In(time.FixedZone("", 24*60*60)), start},
		{"an offset with seconds", start.In(time.FixedZone("", 61)), start},
		{"the year 10000", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
		{"the year 10000 in UTC only", time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*60*60)), time.Time{}},
		{"the year -1", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := faultfs.New()
			table := open(t, fsys)
			r := row("sb_1", "pod-1")
			r.Deadline = c.at
			if err := table.Add("default/a", r, nil); err != nil {
				t.Fatal(err)
			}
			if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
				t.Fatal(err)
			}
			for _, t2 := range []*claims.Table{table, open(t, fsys)} {
				all := t2.Releasing()
				if len(all) != 1 || !all[0].Deadline.Equal(c.want) || all[0].Token.Reveal() != "token-of-sb_1" {
					t.Errorf("releasing %+v, want sb_1 with the deadline %v", all, c.want)
				}
			}
		})
	}
	// Go reads this deadline, and refuses to write it.
	if _, err := claims.Open(fileOf([]byte(`{"claims":{"a/1":{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00+24:00"}}}`)), path, start); err != nil {
		t.Errorf("the file is refused: %v", err)
	}
}

// A claim whose write failed does not push the release of the same sandbox out
// of the file.
func TestFailedAddBesideARelease(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
		t.Fatal(err)
	}
	fsys.SetFault(func(faultfs.Op) error { return errDiskFull })
	r := row("sb_1", "pod-2")
	r.Token = sandboxd.NewToken("second")
	if err := table.Add("default/b", r, nil); err == nil {
		t.Fatal("the write was to fail")
	}
	fsys.SetFault(nil)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := []string{"sb_1 token-of-sb_1", "sb_1 second"}
	if diff := cmp.Diff(want, credentials(open(t, fsys))); diff != "" {
		t.Errorf("credentials in the file (-want +got):\n%s", diff)
	}
}
