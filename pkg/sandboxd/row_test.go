// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// A row with its id and one other field that cannot be read costs that field and
// nothing else: the sandbox is there, and so are all the others.
func TestMalformedRow(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(row, old, new, 1) }
	with := func(fn func(*sandboxd.Sandbox)) sandboxd.Sandbox {
		s := rowRead
		s.Malformed = true
		fn(&s)
		return s
	}
	noDeadline := with(func(s *sandboxd.Sandbox) { s.Deadline = sandboxd.Sandbox{}.Deadline })
	noClaimedAt := with(func(s *sandboxd.Sandbox) { s.ClaimedAt = sandboxd.Sandbox{}.ClaimedAt })
	fine := rowRead
	unset := sandboxd.Sandbox{ID: "sb_1"}
	for _, c := range []struct {
		name string
		row  string
		want sandboxd.Sandbox
	}{
		{"empty deadline", change(`"2026-07-28T02:15:00Z"`, `""`), noDeadline},
		{"deadline that is no time", change(`"2026-07-28T02:15:00Z"`, `"soon"`), noDeadline},
		{"deadline in seconds", change(`"2026-07-28T02:15:00Z"`, `1785204900`), noDeadline},
		{"deadline after the year 9999", change(`2026-07-28T02:15:00Z`, `9999-12-31T23:59:59-01:00`), noDeadline},
		{"empty claim time", change(`"2026-07-27T02:15:00Z"`, `""`), noClaimedAt},
		{"key that is a text", change(`{"template":"rt:24.04","net":"none","size":"small"}`, `"rt:24.04"`), with(func(s *sandboxd.Sandbox) { s.Key = sandboxd.Key{} })},
		{"key with a number", change(`"net":"none"`, `"net":7`), with(func(s *sandboxd.Sandbox) { s.Key = sandboxd.Key{} })},
		{"hibernated that is a text", change(`"hibernated":true`, `"hibernated":"yes"`), with(func(s *sandboxd.Sandbox) { s.Hibernated = false })},
		{"archived that is a number", change(`"archived":true`, `"archived":1`), with(func(s *sandboxd.Sandbox) { s.Archived = false })},
		{"claim ref that is a list", change(`"team-red/notebook-a"`, `["team-red","notebook-a"]`), with(func(s *sandboxd.Sandbox) { s.ClaimRef = "" })},

		{"deadline whose offset cannot be written", change(`2026-07-28T02:15:00Z`, `2026-07-29T02:15:00+24:00`), fine},
		{"null fields", `{"id":"sb_1","key":null,"deadline":null,"hibernated":null,"archived":null,"claim_ref":null,"claimed_at":null}`, unset},
		{"unknown field of any type", `{"id":"sb_1","from_checkpoint":{"a":[7]}}`, unset},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := sandboxd.Sandbox{ID: "sb_2", ClaimRef: "a/b"}
			got, err := serve(t, answer(http.StatusOK, `{"sandboxes":[{"id":"sb_2","claim_ref":"a/b"},`+c.row+`]}`)).List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]sandboxd.Sandbox{other, c.want}, got); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			one, err := serve(t, answer(http.StatusOK, c.row)).Get(t.Context(), "sb_1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, one); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

// A malformed row is logged when it becomes one, by its id and without its
// content, however often it is read.
func TestMalformedRowIsLoggedOnce(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(10)))
	ctx := klog.NewContext(t.Context(), logger)
	logs := func() string { return logger.GetSink().(ktesting.Underlier).GetBuffer().String() }
	var body string
	cl := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	bad := `{"id":"sb_1","deadline":"` + sandboxSecret + `"}`
	both := `{"sandboxes":[` + bad + `,{"id":"sb_2","archived":7}]}`
	for _, step := range []struct {
		name  string
		get   bool
		body  string
		lines int
	}{
		{"one row", false, `{"sandboxes":[` + bad + `]}`, 1},
		{"the same", false, `{"sandboxes":[` + bad + `]}`, 1},
		{"the same, alone", true, bad, 1},
		{"a second one", false, both, 2},
		{"the same two", false, both, 2},
		{"one in order", true, `{"id":"sb_1"}`, 2},
		{"malformed again", true, bad, 3},
		{"both in order", false, `{"sandboxes":[{"id":"sb_1"},{"id":"sb_2"}]}`, 3},
		{"both again", false, both, 5},
	} {
		body = step.body
		var err error
		if step.get {
			_, err = cl.Get(ctx, "sb_1")
		} else {
			_, err = cl.List(ctx)
		}
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := strings.Count(logs(), "malformed field"); got != step.lines {
			t.Errorf("%s: %d lines so far, want %d:\n%s", step.name, got, step.lines, logs())
		}
	}
	if strings.Contains(logs(), sandboxSecret) {
		t.Errorf("the log shows the row's content:\n%s", logs())
	}
}
