// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	rootToken   = "root-secret"
	tenantToken = "tenant-secret"
	image       = "ghcr.io/cocoonstack/sandbox/rt:24.04"
)

var testKey = Key{Template: image, Net: "none", Size: "small"}

func testConfig() Config {
	return Config{
		RootToken: rootToken, TenantToken: tenantToken, AdvertiseAddr: "10.0.0.5:7777",
		Pools: []Pool{{Key: testKey, Target: 2}},
		Rand:  rand.NewChaCha8([32]byte{1}),
	}
}

// bench is a server with what a test does to it.
type bench struct {
	*testing.T
	*Server
}

// inBubble runs a test under virtual time.
func inBubble(t *testing.T, cfg Config, fn func(b bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(start(t, cfg)) })
}

func start(t *testing.T, cfg Config) bench {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return bench{t, s}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// try does one request; the error is the transport's.
func (b bench) try(method, path, token, body string) (answer, error) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	return b.send(req, token)
}

func (b bench) send(req *http.Request, token string) (answer, error) {
	b.Helper()
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := b.Transport().RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}

// want does one request and fails unless the status is the one given.
func (b bench) want(status int, method, path, token, body string) answer {
	b.Helper()
	a, err := b.try(method, path, token, body)
	if err != nil {
		b.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status != status {
		b.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, status, a.body)
	}
	if status >= 400 {
		var e struct{ Error string }
		if err := json.Unmarshal(a.body, &e); err != nil || e.Error == "" {
			b.Fatalf("%s %s: error body %q", method, path, a.body)
		}
	}
	return a
}

func claimBody(ref string) string {
	return `{"template":"` + image + `","claim_ref":"` + ref + `"}`
}

type claimed struct {
	ID        string    `json:"id"`
	Token     string    `json:"token"`
	Deadline  time.Time `json:"deadline"`
	OwnerAddr string    `json:"owner_addr"`
	Redirect  []string  `json:"redirect"`
}

func (b bench) claim(body string) claimed {
	b.Helper()
	return decodeAs[claimed](b, b.want(http.StatusOK, "POST", "/v1/claim", rootToken, body).body)
}

type listed struct {
	Sandboxes []struct {
		ID         string    `json:"id"`
		Key        Key       `json:"key"`
		Deadline   time.Time `json:"deadline"`
		Hibernated bool      `json:"hibernated"`
		Archived   bool      `json:"archived"`
		ClaimRef   string    `json:"claim_ref"`
		ClaimedAt  time.Time `json:"claimed_at"`
	} `json:"sandboxes"`
}

func (b bench) list(query string) listed {
	b.Helper()
	return decodeAs[listed](b, b.want(http.StatusOK, "GET", "/v1/sandboxes"+query, rootToken, "").body)
}

func (b bench) ids() string {
	b.Helper()
	var ids []string
	for _, r := range b.list("").Sandboxes {
		ids = append(ids, r.ClaimRef)
	}
	return strings.Join(ids, " ")
}

func decodeAs[T any](b bench, body []byte) T {
	b.Helper()
	var v T
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		b.Fatalf("%s: %v", body, err)
	}
	return v
}

func (b bench) fault(f Fault) int {
	b.Helper()
	id, err := b.AddFault(f)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// history is the types of the events of one sandbox.
func (b bench) history(id string) string {
	b.Helper()
	var types []string
	for _, e := range b.Truth(EventFilter{Sandbox: id}).Events {
		types = append(types, string(e.Type))
	}
	return strings.Join(types, " ")
}

func (b bench) wantHistory(id, want string) {
	b.Helper()
	if got := b.history(id); got != want {
		b.Errorf("history of %s: %q, want %q", id, got, want)
	}
}

func (b bench) do(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }
