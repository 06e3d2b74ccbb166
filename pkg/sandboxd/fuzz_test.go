// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// answers is a client whose every call is answered with body.
func answers(t testing.TB, body []byte) *sandboxd.Client {
	return newClient(t, sandboxd.Config{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: -1}, nil
	})})
}

// shown fails the test when an error is not one of the constant texts.
func shown(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err.Error() == text {
			return
		}
	}
	t.Errorf("error %q depends on the answer", err)
}

func FuzzClaimAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777"}`, `{"redirect":["10.0.0.6:7777"]}`,
		`{"id":"sb_1","token":"t","deadline":7,"owner_addr":"x"}`, `{"id":"..","token":"\u0000"}`,
		`{"id":"sb_1","token":"t","deadline":"9999-12-31T23:59:59-01:00","owner_addr":"fd00::5","redirect":7}`, `{"ID":"a","Token":"b","OWNER_ADDR":"c:1"}`, `null`, `<html>`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := answers(t, body).Claim(context.Background(), sandboxd.ClaimRequest{Template: "rt:24.04"})
		if (c.ID == "") != c.Token.Empty() {
			t.Errorf("half a claim: id %q, token empty %v", c.ID, c.Token.Empty())
		}
		if (err == nil) != (c.ID != "") {
			t.Errorf("claim %+v beside the error %v", c, err)
		}
		if _, err := json.Marshal(c.Deadline); err != nil || !utf8.ValidString(c.OwnerAddr) || len(c.OwnerAddr) > 300 {
			t.Errorf("claim %+v cannot be stored: %v", c, err)
		}
		if err != nil {
			shown(t, err, "sandboxd claim: sandboxd failed; see sandboxd's own log", "sandboxd claim: no warm capacity; retried until the pool has capacity")
		}
		if c.ID != "" {
			releasable(t, c)
		}
	})
}

// releasable fails the test when a claim's id and token do not arrive whole in
// the request that gives it back.
func releasable(t *testing.T, c sandboxd.Claim) {
	t.Helper()
	sent := false
	cl := newClient(t, sandboxd.Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = true
		if r.URL.Path != "/v1/sandboxes/"+c.ID+"/release" || r.Header.Get("Authorization") != "Bearer "+c.Token.Reveal() {
			t.Errorf("release of %q goes to %q", c.ID, r.URL.Path)
		}
		return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
	})})
	if err := cl.Release(context.Background(), c.ID, c.Token); err != nil || !sent {
		t.Errorf("the claim %q cannot be given back: %v", c.ID, err)
	}
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{
		`{"sandboxes":[` + row + `]}`, `{"sandboxes":[]}`, `{"sandboxes":null}`, `{"sandboxes":[null]}`, `{"sandboxes":[{"id":""}]}`, `{"sandboxes":[{"id":"sb_1","deadline":7},` + row + `]}`, `{}`, `null`, `[]`, `{"sandboxes":[]`, `<html>`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		rows, err := answers(t, body).List(context.Background())
		if err != nil {
			shown(t, err, "sandboxd list: sandboxd failed; see sandboxd's own log")
			if rows != nil {
				t.Errorf("rows %v beside an error", rows)
			}
			return
		}
		for _, r := range rows {
			if r.ID == "" {
				t.Error("a row without an id")
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("a row that cannot be written again: %v", err)
			}
		}
		// No error means that the answer had a list, with that many entries.
		var got struct{ Sandboxes []json.RawMessage }
		if err := json.Unmarshal(body, &got); err != nil || got.Sandboxes == nil || len(got.Sandboxes) != len(rows) {
			t.Errorf("%d rows from %q", len(rows), body)
		}
	})
}

func FuzzGet(f *testing.F) {
	for _, seed := range []string{row, `{"id":"sb_2"}`, `{}`, `null`, `[]`, `<html>`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := answers(t, body).Get(context.Background(), "sb_1")
		if err != nil {
			shown(t, err, "sandboxd get: sandboxd failed; see sandboxd's own log")
		} else if got.ID != "sb_1" {
			t.Errorf("asked for sb_1, got %q", got.ID)
		}
	})
}

func FuzzInfo(f *testing.F) {
	for _, seed := range []string{
		`{"pools":[{"key":{"template":"rt:24.04","net":"none","size":"small"},"warm":4,"refilling":0,"target":4,"golden":true}],"claimed":2,"hibernated":1,"peers":["a:1"]}`,
		`{"pools":null}`, `{"claimed":-1}`, `{"claimed":1e99}`, `{}`, `null`, `<html>`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := answers(t, body).Info(context.Background()); err != nil {
			shown(t, err, "sandboxd info: sandboxd failed; see sandboxd's own log")
		} else if !json.Valid(body) {
			t.Errorf("no error for %q", body)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"30", "-1", "Fri, 31 Dec 2038 23:59:59 GMT", "99999999999999999999", "0x10", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		cl := newClient(t, sandboxd.Config{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}, Body: http.NoBody}, nil
		})})
		_, err := cl.Claim(context.Background(), sandboxd.ClaimRequest{Template: "rt:24.04"})
		if wait := errorOf(t, err).RetryAfter(); wait < 0 || wait > 5*time.Minute {
			t.Errorf("%q asks to wait %v", header, wait)
		}
	})
}
