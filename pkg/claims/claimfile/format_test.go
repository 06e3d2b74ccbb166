// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// TestOlderTables loads a table of each older shape, and checks that nothing
// is lost and that what it does not say stays unsaid.
func TestOlderTables(t *testing.T) {
	claimed := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	for _, tc := range []struct {
		file     string
		now      time.Time
		claimed  time.Time
		deadline time.Time
		owner    string
	}{
		{file: "2026-07-first.json", now: claimed.Add(time.Hour), claimed: claimed.Add(time.Hour)},
		{file: "2026-07-claimed-at.json", now: claimed.Add(time.Hour), claimed: claimed},
		{file: "2026-08-contract.json", now: claimed.Add(time.Hour), claimed: claimed, deadline: claimed.Add(24 * time.Hour), owner: "9a2e"},
		{file: "later-build.json", now: claimed.Add(time.Hour), claimed: claimed},
	} {
		t.Run(tc.file, func(t *testing.T) {
			fsys := put(t, tc.file)
			// The second load must not move the claim time again.
			for _, now := range []time.Time{tc.now, tc.now.Add(48 * time.Hour)} {
				table, err := claims.Open(claimfile.New(fsys, path), now)
				if err != nil {
					t.Fatal(err)
				}
				c, ok := table.Get("default/my-sandbox")
				if !ok || c.ID != "sb_1" || c.Token.Reveal() != "t1" || c.Address != "10.0.0.5:7777" || c.PodUID != "6f1c" {
					t.Fatalf("claim after loading: %+v, token kept %v", c, c.Token.Reveal() == "t1")
				}
				if !c.ClaimedAt.Equal(tc.claimed) || !c.Deadline.Equal(tc.deadline) {
					t.Errorf("claimedAt %v, deadline %v; want %v, %v", c.ClaimedAt, c.Deadline, tc.claimed, tc.deadline)
				}
				if owner := c.Owner; (owner == nil) != (tc.owner == "") || (owner != nil && string(owner.UID) != tc.owner) {
					t.Errorf("owner %+v, want uid %q", owner, tc.owner)
				}
			}
		})
	}
	if r := open(t, put(t, "2026-08-contract.json")).Releasing(); len(r) != 1 || r[0].Token.Reveal() != "t0" {
		t.Errorf("releasing: %d entries, want sb_0 with its token", len(r))
	}
}

// TestUnknownFieldsSurvive takes a later build's table through this one and
// back.
func TestUnknownFieldsSurvive(t *testing.T) {
	fsys := put(t, "later-build.json")
	table := open(t, fsys)
	mustAdd(t, table, "default/other", "sb_2", "pod-2")
	if err := table.Bind("default/my-sandbox", "sb_1", claims.Holder{PodUID: "new"}); err != nil {
		t.Fatal(err)
	}
	data, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema int      `json:"schema"`
		Audit  []string `json:"audit"`
		Claims map[string]struct {
			Pool map[string]string `json:"pool"`
		} `json:"claims"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 99 || len(got.Audit) != 1 || got.Claims["default/my-sandbox"].Pool["size"] != "small" {
		t.Errorf("a later build's fields did not survive: %+v", got)
	}
}

// TestFileShape pins the names and forms of the file, which older and newer builds read.
func TestFileShape(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/my-sandbox", "sb_1", "6f1c")
	mustAdd(t, table, "default/other", "sb_2", "7a2d")
	if err := table.EnqueueRelease("default/other", "sb_2"); err != nil {
		t.Fatal(err)
	}
	data, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := `"controller":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"a","uid":"owner-1"}`
	want := `{"claims":{"default/my-sandbox":{"id":"sb_1","token":"token-of-sb_1","address":"10.0.0.5:7777","podUID":"6f1c",` +
		`"authority":"owner-1","claimedAt":"2026-07-27T02:15:00Z","deadline":"2026-07-28T02:15:00Z",` + owner + `}},` +
		`"releasing":[{"id":"sb_2","token":"token-of-sb_2","address":"10.0.0.5:7777","podUID":"7a2d",` +
		`"authority":"owner-1","claimedAt":"2026-07-27T02:15:00Z","deadline":"2026-07-28T02:15:00Z",` + owner + `,"key":"default/other"}]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

// TestOddNamesAndForms: what the file says is kept to the letter of JSON, whatever
// the names in it, and whatever spaces a hand has put in.
func TestOddNamesAndForms(t *testing.T) {
	before := []byte(`{ "later": {"a": [1, 2]},
		"claims": {"a\"b/c\u2028<": {"id": "sb_1", "token": "t", "address": "h:1", "podUID": "p", "claimedAt": "2026-07-27T02:15:00Z", "x": [ ]}},
		"z\"": null, "releasing": [ {"id": "sb_2", "token": "t", "address": "h:1", "podUID": "p", "claimedAt": "2026-07-27T02:15:00Z", "key": "d/\\"} ] }`)
	fsys := fileOf(before)
	open(t, fsys)
	after, err := fsys.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(before, &want), json.Unmarshal(after, &got)); err != nil {
		t.Fatalf("%v in:\n%s", err, after)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-before +after):\n%s", diff)
	}
}

// TestDamagedTable: a damaged file is never a table without claims. It
// stops the start with the file as it was.
func TestDamagedTable(t *testing.T) {
	whole := []byte(`{"claims":{"a/1":{"id":"sb_1","token":"t","address":"h:1","podUID":"p"},"a/2":{"id":"sb_2","token":"t","address":"h:1","podUID":"p"}}}`)
	if _, err := claims.Open(claimfile.New(fileOf(whole), path), start); err != nil {
		t.Fatalf("the undamaged file: %v", err)
	}
	replace := func(old, new string) []byte { return bytes.Replace(whole, []byte(old), []byte(new), 1) }
	for name, data := range map[string][]byte{
		"empty":                 {},
		"white space":           []byte(" \n"),
		"NULs":                  make([]byte, len(whole)),
		"tail of an older file": append(bytes.Clone(whole), whole[len(whole)-40:]...),
		"first 60 percent":      whole[:len(whole)*6/10],
		"one byte short":        whole[:len(whole)-1],
		"null":                  []byte("null"),
		"list":                  []byte("[]"),
		"string":                []byte(`"claims"`),
		"no claims field":       []byte("{}"),
		"other case":            []byte(`{"Claims":{}}`),
		"BOM":                   append([]byte("\xef\xbb\xbf"), whole...),
		"claims is a list":      []byte(`{"claims":[]}`),
		"row is null":           []byte(`{"claims":{"a/1":null}}`),
		"row without a token":   replace(`"token":"t",`, ""),
		"row without an id":     replace(`"id":"sb_1",`, ""),
		"number for a token":    replace(`"token":"t"`, `"token":1`),
		"number for a Pod UID":  replace(`"podUID":"p"`, `"podUID":7`),
		"list for an authority": replace(`"podUID":"p"`, `"podUID":"p","authority":[]`),
		"text for an owner":     replace(`"podUID":"p"`, `"podUID":"p","owner":"a"`),
		"text for a controller": replace(`"podUID":"p"`, `"podUID":"p","controller":"a"`),
		"key without namespace": replace(`"a/1"`, `"1"`),
		"releasing is a row":    replace(`{"claims"`, `{"releasing":{"id":"x","token":"t"},"claims"`),
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fileOf(data)
			if _, err := claims.Open(claimfile.New(fsys, path), start); err == nil {
				t.Fatal("a damaged table loaded")
			}
			after, err := fsys.ReadFile(path)
			if err != nil || !bytes.Equal(after, data) {
				t.Errorf("the damaged file was touched (%v)", err)
			}
			if n := fsys.Renames(); n != 0 {
				t.Errorf("%d writes over a damaged file", n)
			}
		})
	}
}

// One sandbox in two rows is no reason to refuse the table: each row keeps its
// credential, and [claims.Table.Holders] tells who must not be released yet.
func TestOneSandboxInTwoRows(t *testing.T) {
	fsys := fileOf([]byte(`{"claims":{"a/1":{"id":"sb_1","token":"t1"},"a/2":{"id":"sb_1","token":"t2"}},"releasing":[{"id":"sb_1","token":"t3","key":"a/3"}]}`))
	for range 2 {
		table, err := claims.Open(claimfile.New(fsys, path), start)
		if err != nil {
			t.Fatal(err)
		}
		var tokens []string
		for _, c := range append(table.List(), table.Releasing()...) {
			tokens = append(tokens, c.Token.Reveal())
		}
		if want := []string{"t1", "t2", "t3"}; !slices.Equal(tokens, want) || table.Holders("sb_1") != 2 {
			t.Errorf("tokens %q, holders %d, want %q and 2", tokens, table.Holders("sb_1"), want)
		}
	}
	table, err := claims.Open(claimfile.New(fsys, path), start)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"a/1", "a/2"} {
		if err := table.EnqueueRelease(key, "sb_1"); err != nil || table.Holders("sb_1") != 1-i {
			t.Errorf("after EnqueueRelease of %s: %v, holders %d", key, err, table.Holders("sb_1"))
		}
	}
}

// FuzzOpen: whatever the file holds, Open loads it without losing a
// credential, or refuses it untouched.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"2026-07-first.json", "2026-08-contract.json", "later-build.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("null"))
	f.Add([]byte(`{"claims":{"a/b":{"id":"x","token":"t","deadline":"9999-12-31T23:59:59-23:00"},"a/c":{"id":"x","token":"u","deadline":7}},"releasing":[{"id":"x","token":"v","key":"a/d"},{"id":"x","token":"w","key":"a/d"}]}`))
	f.Add([]byte(`{"claims":{},"place":{"cluster":"c","host":7}}`))
	f.Add([]byte(`{"claims":{"a/b":{"id":"x","token":"t","ID":"y"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fileOf(data)
		table, err := claims.Open(claimfile.New(fsys, path), start)
		if err != nil {
			if after, _ := fsys.ReadFile(path); !bytes.Equal(after, data) {
				t.Fatalf("refused and touched: %v", err)
			}
			return
		}
		again, err := claims.Open(claimfile.New(fsys, path), start)
		if err != nil {
			t.Fatalf("what Open wrote does not load: %v", err)
		}
		if diff := cmp.Diff(credentials(table), credentials(again)); diff != "" {
			t.Fatalf("a round trip changed the credentials:\n%s", diff)
		}
		if table.Place() != again.Place() {
			t.Fatalf("a round trip changed the place from %+v to %+v", table.Place(), again.Place())
		}
		if diff := cmp.Diff(shown(table), shown(again)); diff != "" {
			t.Fatalf("a round trip changed the claims:\n%s", diff)
		}
	})
}

// shown is all that the table says except the credentials.
func shown(table *claims.Table) []string {
	var out []string
	for _, c := range append(table.List(), table.Releasing()...) {
		out = append(out, fmt.Sprintf("%q %q %q %q %q %q %q %v %v %+v %+v %v %v %v %v", c.Key, c.State, c.ID, c.Address, c.PodUID, c.Authority, c.PastPods,
			c.ClaimedAt.UTC(), c.Deadline.UTC(), deref(c.Owner), deref(c.Controller), c.RandomName, c.PodDeletedAt.UTC(),
			c.LeaseMovedAt.UTC(), c.WarnedOf.UTC()))
	}
	return out
}

func deref(o *claims.Owner) claims.Owner {
	if o == nil {
		return claims.Owner{}
	}
	return *o
}

func TestErrorsNeverShowAToken(t *testing.T) {
	fsys := faultfs.New()
	fsys.Put(path, []byte(`{"claims":{"default/a":{"id":"sb_1","token":"SECRET-7f3a91","podUID":["SECRET-7f3a91"]}}}`))
	_, err := claims.Open(claimfile.New(fsys, path), start)
	if err == nil {
		t.Fatal("a row with a wrong type loaded")
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "SECRET") {
		t.Errorf("the error shows a token: %v", err)
	}
}
