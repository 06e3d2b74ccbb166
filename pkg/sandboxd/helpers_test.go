// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	rootSecret    = "root-SECRET-7f3a91"
	sandboxSecret = "sandbox-SECRET-5c20d8"
)

// operations are all calls of the client, with arguments that are in order.
var operations = []struct {
	op   string
	call func(context.Context, *sandboxd.Client) error
}{
	{"claim", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.Claim(ctx, sandboxd.ClaimRequest{Template: "rt:24.04", ClaimRef: "team-red/notebook-a"})
		return err
	}},
	{"release", func(ctx context.Context, cl *sandboxd.Client) error {
		return cl.Release(ctx, "sb_1", sandboxd.NewToken(sandboxSecret))
	}},
	{"release by id", func(ctx context.Context, cl *sandboxd.Client) error { return cl.ReleaseByID(ctx, "sb_1") }},
	{"list", func(ctx context.Context, cl *sandboxd.Client) error { _, err := cl.List(ctx); return err }},
	{"get", func(ctx context.Context, cl *sandboxd.Client) error { _, err := cl.Get(ctx, "sb_1"); return err }},
	{"find", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.FindByRef(ctx, "team-red/notebook-a")
		return err
	}},
	{"hibernate", func(ctx context.Context, cl *sandboxd.Client) error { return cl.Hibernate(ctx, "sb_1") }},
	{"wake", func(ctx context.Context, cl *sandboxd.Client) error { return cl.Wake(ctx, "sb_1") }},
	{"renew", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.Renew(ctx, "sb_1", 60)
		return err
	}},
	{"fork", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.Fork(ctx, "sb_1", sandboxd.ForkRequest{Count: 1})
		return err
	}},
	{"checkpoint", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.Checkpoint(ctx, "sb_1", "before")
		return err
	}},
	{"set pools", func(ctx context.Context, cl *sandboxd.Client) error {
		_, err := cl.SetPools(ctx, nil)
		return err
	}},
	{"info", func(ctx context.Context, cl *sandboxd.Client) error { _, err := cl.Info(ctx); return err }},
}

// serve starts a server and returns a client of it that presents rootSecret.
func serve(t testing.TB, h http.HandlerFunc) *sandboxd.Client {
	t.Helper()
	return serveWith(t, nil, h)
}

// serveWith is serve with another source of the node API token.
func serveWith(t testing.TB, token sandboxd.TokenSource, h http.HandlerFunc) *sandboxd.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return newClient(t, sandboxd.Config{URL: s.URL, Token: token})
}

// newClient returns a client that presents rootSecret unless the configuration
// says otherwise.
func newClient(t testing.TB, c sandboxd.Config) *sandboxd.Client {
	t.Helper()
	if c.Token == nil {
		c.Token = sandboxd.StaticToken(sandboxd.NewToken(rootSecret))
	}
	if c.URL == "" {
		c.URL = "http://127.0.0.1:7777"
	}
	cl, err := sandboxd.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// answer is a handler that always answers the same.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// wantClass fails the test unless err is a failed call of that class.
func wantClass(t *testing.T, err error, want sandboxd.Class) {
	t.Helper()
	if got := sandboxd.ClassOf(err); err == nil || got != want {
		t.Fatalf("class %q of error %v, want %q", got, err, want)
	}
}

// roundTrip is a transport without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
