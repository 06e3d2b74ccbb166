// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const row = `{"id":"sb_1","key":{"template":"rt:24.04","net":"none","size":"small"},"deadline":"2026-07-28T02:15:00Z",` +
	`"hibernated":true,"archived":true,"from_checkpoint":"cp","claim_ref":"team-red/notebook-a","claimed_at":"2026-07-27T02:15:00Z"}`

var rowRead = sandboxd.Sandbox{
	ID: "sb_1", Key: sandboxd.Key{Template: "rt:24.04", Net: "none", Size: "small"},
	Deadline: time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC), Hibernated: true, Archived: true,
	ClaimRef: "team-red/notebook-a", ClaimedAt: time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC),
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name string
		body string
		want []sandboxd.Sandbox
	}{
		{"no sandbox", `{"sandboxes":[]}`, []sandboxd.Sandbox{}},
		{"one, and fields that newer daemons add", `{"sandboxes":[` + row + `],"next":"x"}`, []sandboxd.Sandbox{rowRead}},
		{"only ids", `{"sandboxes":[{"id":"sb_1"},{"id":"sb_2"}]}`, []sandboxd.Sandbox{{ID: "sb_1"}, {ID: "sb_2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := serve(t, answer(http.StatusOK, c.body)).List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// A list that failed is not an empty list.
func TestListNeverEmptyByMistake(t *testing.T) {
	for name, body := range map[string]string{
		"null list":                      `{"sandboxes":null}`,
		"no list":                        `{}`,
		"another field":                  `{"items":[]}`,
		"an error with status 200":       `{"error":"index not ready"}`,
		"null":                           `null`,
		"bare list":                      `[]`,
		"list that is an object":         `{"sandboxes":{}}`,
		"list that is a text":            `{"sandboxes":""}`,
		"list given twice, null second":  `{"sandboxes":[{"id":"sb_1"}],"sandboxes":null}`,
		"row without an id":              `{"sandboxes":[{"id":"sb_1"},{"claim_ref":"a/b"}]}`,
		"row with an empty id":           `{"sandboxes":[{"id":""}]}`,
		"row that is null":               `{"sandboxes":[null]}`,
		"row that is a text":             `{"sandboxes":["sb_1"]}`,
		"row whose id is no text":        `{"sandboxes":[{"id":"sb_1"},{"id":7}]}`,
		"rows given twice, no id second": `{"sandboxes":[{"id":"sb_1"}],"sandboxes":[{"claim_ref":"a/b"}]}`,
		"cut inside a row":               `{"sandboxes":[{"id":"sb_1"},{"id":"sb`,
		"cut after a row":                `{"sandboxes":[{"id":"sb_1"}`,
		"cut before the end":             `{"sandboxes":[]`,
		"garbage behind":                 `{"sandboxes":[]}}`,
		"second document behind":         `{"sandboxes":[]} {"sandboxes":[]}`,
		"HTML":                           `<!doctype html><title>Welcome</title>`,
		"empty body":                     ``,
		"NUL bytes":                      "\x00\x00\x00\x00",
		"byte order mark":                "\ufeff" + `{"sandboxes":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := serve(t, answer(http.StatusOK, body)).List(t.Context())
			wantClass(t, err, sandboxd.Unavailable)
			if got != nil {
				t.Errorf("rows %v beside the error, want none", got)
			}
		})
	}
}

func TestListWithoutABody(t *testing.T) {
	_, err := serve(t, answer(http.StatusNoContent, "")).List(t.Context())
	wantClass(t, err, sandboxd.Unavailable)
}

func TestGet(t *testing.T) {
	got, err := serve(t, answer(http.StatusOK, row)).Get(t.Context(), "sb_1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rowRead, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	for name, body := range map[string]string{
		"another row": `{"id":"sb_2"}`, "no id": `{}`, "null": `null`, "list": `{"sandboxes":[` + row + `]}`, "HTML": `<html>`, "cut": row[:40],
	} {
		t.Run(name, func(t *testing.T) {
			got, err := serve(t, answer(http.StatusOK, body)).Get(t.Context(), "sb_1")
			wantClass(t, err, sandboxd.Unavailable)
			if got != (sandboxd.Sandbox{}) {
				t.Errorf("row %v beside the error, want none", got)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	body := `{"pools":[{"key":{"template":"rt:24.04","net":"none","size":"small"},"warm":4,"refilling":1,"target":5,"golden":true,"extra":1}],` +
		`"claimed":2,"hibernated":1,"archived":3,"peers":["10.0.0.6:7777"]}`
	got, err := serve(t, answer(http.StatusOK, body)).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := sandboxd.Info{
		Pools:   []sandboxd.Pool{{Key: sandboxd.Key{Template: "rt:24.04", Net: "none", Size: "small"}, Warm: 4, Refilling: 1, Target: 5, Golden: true}},
		Claimed: 2, Hibernated: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	for name, body := range map[string]string{"HTML": `<html>`, "cut": body[:60], "empty": ``, "list": `[]`, "pools of another type": `{"pools":4}`} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, answer(http.StatusOK, body)).Info(t.Context())
			wantClass(t, err, sandboxd.Unavailable)
		})
	}
}

// An id is one path segment, whatever is in it, and one that no segment can
// hold is refused with nothing sent.
func TestIDsInPaths(t *testing.T) {
	var uris []string
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		uris = append(uris, r.Method+" "+r.RequestURI)
		w.WriteHeader(http.StatusNotFound)
	})
	for id, segment := range map[string]string{
		"sb_1":             "sb_1",
		"a/b":              "a%2Fb",
		"../../drain":      "..%2F..%2Fdrain",
		"a?claim_ref=x":    "a%3Fclaim_ref=x",
		"a#b":              "a%23b",
		"a%2fb":            "a%252fb",
		"a b":              "a%20b",
		"...":              "...",
		"/":                "%2F",
		"é":                "%C3%A9",
		"a\r\nX-Header: b": "a%0D%0AX-Header:%20b",
	} {
		uris = nil
		_, err := cl.Get(t.Context(), id)
		wantClass(t, err, sandboxd.NotFound)
		wantClass(t, cl.Release(t.Context(), id, sandboxd.NewToken(sandboxSecret)), sandboxd.NotFound)
		want := []string{"GET /v1/sandboxes/" + segment, "POST /v1/sandboxes/" + segment + "/release"}
		if diff := cmp.Diff(want, uris); diff != "" {
			t.Errorf("id %q (-want +got):\n%s", id, diff)
		}
	}
	uris = nil
	for _, id := range []string{"", ".", ".."} {
		_, err := cl.Get(t.Context(), id)
		wantClass(t, err, sandboxd.Invalid)
		wantClass(t, cl.Release(t.Context(), id, sandboxd.NewToken(sandboxSecret)), sandboxd.Invalid)
		wantClass(t, cl.ReleaseByID(t.Context(), id), sandboxd.Invalid)
	}
	if len(uris) != 0 {
		t.Errorf("sent %q for ids that no path can carry", uris)
	}
}

// endless is a body without an end: its head, and then spaces.
type endless struct {
	head io.Reader
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, _ := e.head.Read(p)
	if n == 0 {
		n = copy(p, spaces)
	}
	e.read += int64(n)
	return n, nil
}

var spaces = bytes.Repeat([]byte(" "), 1<<20)

func (e *endless) Close() error { return nil }

func TestBodiesAreBounded(t *testing.T) {
	for _, c := range []struct {
		status int
		class  sandboxd.Class
		bound  int64
	}{
		{http.StatusOK, sandboxd.Unavailable, 17 << 20},
		{http.StatusInternalServerError, sandboxd.Unavailable, 1 << 20},
		{http.StatusTooManyRequests, sandboxd.NoCapacity, 1 << 20},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			// Cut anywhere, this would be an empty list.
			body := &endless{head: strings.NewReader(`{"sandboxes":[]}`)}
			cl := newClient(t, sandboxd.Config{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: body, ContentLength: -1}, nil
			})})
			got, err := cl.List(t.Context())
			wantClass(t, err, c.class)
			if got != nil || body.read > c.bound {
				t.Errorf("%d rows, %d bytes read; want none, and at most %d", len(got), body.read, c.bound)
			}
		})
	}
}
