// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simtest is what the tests of the simulator's packages share: a server with the requests that a test makes of it.
package simtest

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

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// What [Config] has.
const (
	RootToken   = "root-secret"
	TenantToken = "tenant-secret"
	Image       = "ghcr.io/cocoonstack/sandbox/rt:24.04"
)

// Key returns the key of the one pool of [Config].
func Key() config.Key { return config.Key{Template: Image, Net: "none", Size: "small"} }

// Config returns a configuration with one pool and a seed.
func Config() config.Config {
	return config.Config{
		RootToken: RootToken, TenantToken: TenantToken, AdvertiseAddr: "10.0.0.5:7777",
		Pools: []config.Pool{{Key: Key(), Target: 2}},
		Rand:  rand.NewChaCha8([32]byte{1}),
	}
}

// Sim is a simulator in a test.
type Sim struct {
	*testing.T
	*sandboxdsim.Server
}

// InBubble runs a test under virtual time.
func InBubble(t *testing.T, cfg config.Config, fn func(b Sim)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(Start(t, cfg)) })
}

// Start returns a simulator that ends with the test.
func Start(t *testing.T, cfg config.Config) Sim {
	t.Helper()
	s, err := sandboxdsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Sim{t, s}
}

// Answer is what a request got.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Try does one request; the error is the transport's.
func (b Sim) Try(method, path, token, body string) (Answer, error) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	return b.Send(req, token)
}

// Send does a request that the test has made.
func (b Sim) Send(req *http.Request, token string) (Answer, error) {
	b.Helper()
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := b.Transport().RoundTrip(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, body}, nil
}

// Want does one request and fails unless the status is the one given.
func (b Sim) Want(status int, method, path, token, body string) Answer {
	b.Helper()
	a, err := b.Try(method, path, token, body)
	if err != nil {
		b.Fatalf("%s %s: %v", method, path, err)
	}
	if a.Status != status {
		b.Fatalf("%s %s: status %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	if status >= 400 {
		var e struct{ Error string }
		if err := json.Unmarshal(a.Body, &e); err != nil || e.Error == "" {
			b.Fatalf("%s %s: error body %q", method, path, a.Body)
		}
	}
	return a
}

// ClaimBody is a claim of the one pool.
func ClaimBody(ref string) string {
	return `{"template":"` + Image + `","claim_ref":"` + ref + `"}`
}

// Claimed is the answer to a claim.
type Claimed struct {
	ID        string    `json:"id"`
	Token     string    `json:"token"`
	Deadline  time.Time `json:"deadline"`
	OwnerAddr string    `json:"owner_addr"`
	Redirect  []string  `json:"redirect"`
}

// Claim makes a claim with the root token.
func (b Sim) Claim(body string) Claimed {
	b.Helper()
	return Decode[Claimed](b, b.Want(http.StatusOK, "POST", "/v1/claim", RootToken, body).Body)
}

// Listed is the index.
type Listed struct {
	Sandboxes []struct {
		ID         string     `json:"id"`
		Key        config.Key `json:"key"`
		Deadline   time.Time  `json:"deadline"`
		Hibernated bool       `json:"hibernated"`
		Archived   bool       `json:"archived"`
		ClaimRef   string     `json:"claim_ref"`
		ClaimedAt  time.Time  `json:"claimed_at"`
	} `json:"sandboxes"`
}

// List reads the index.
func (b Sim) List(query string) Listed {
	b.Helper()
	return Decode[Listed](b, b.Want(http.StatusOK, "GET", "/v1/sandboxes"+query, RootToken, "").Body)
}

// Refs are the claim refs of the index, in its order.
func (b Sim) Refs() string {
	b.Helper()
	var refs []string
	for _, r := range b.List("").Sandboxes {
		refs = append(refs, r.ClaimRef)
	}
	return strings.Join(refs, " ")
}

// Info reads /v1/info.
func (b Sim) Info() host.Info {
	b.Helper()
	return Decode[host.Info](b, b.Want(http.StatusOK, "GET", "/v1/info", RootToken, "").Body)
}

// Decode reads the body of an answer.
func Decode[T any](b Sim, body []byte) T {
	b.Helper()
	var v T
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		b.Fatalf("%s: %v", body, err)
	}
	return v
}

// AddFault puts a fault in force.
func (b Sim) AddFault(f fault.Fault) int {
	b.Helper()
	id, err := b.Faults.Add(f)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func (b Sim) events(id string) string {
	b.Helper()
	var types []string
	for _, e := range b.History(history.Filter{Sandbox: id}).Events {
		types = append(types, string(e.Type))
	}
	return strings.Join(types, " ")
}

// WantHistory fails unless the events of one sandbox have these types.
func (b Sim) WantHistory(id, want string) {
	b.Helper()
	if got := b.events(id); got != want {
		b.Errorf("history of %s: %q, want %q", id, got, want)
	}
}

// Must fails on an error.
func (b Sim) Must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// ReapNow reaps once.
func (b Sim) ReapNow() {
	b.Helper()
	if _, err := b.Reap(); err != nil {
		b.Fatal(err)
	}
}
