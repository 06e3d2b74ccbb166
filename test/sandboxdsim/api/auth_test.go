// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// TestTokens tries every kind of token on every endpoint. Each attempt has a sandbox of its own.
func TestTokens(t *testing.T) {
	type statuses struct{ root, tenant, holder, other, unknown, none int }
	const sandbox = "/v1/sandboxes/{id}"
	for name, want := range map[string]statuses{
		"POST /v1/claim":                 {200, 200, 401, 401, 401, 401},
		"GET /v1/sandboxes":              {200, 403, 401, 401, 401, 401},
		"GET " + sandbox:                 {200, 403, 401, 401, 401, 401},
		"GET /v1/info":                   {200, 403, 401, 401, 401, 401},
		"PUT /v1/pools":                  {200, 403, 401, 401, 401, 401},
		"POST /v1/drain":                 {204, 403, 401, 401, 401, 401},
		"DELETE /v1/drain":               {204, 403, 401, 401, 401, 401},
		"POST " + sandbox + "/release":   {204, 403, 204, 404, 404, 401},
		"POST " + sandbox + "/hibernate": {204, 403, 204, 404, 404, 401},
		"POST " + sandbox + "/wake":      {204, 403, 204, 404, 404, 401},
		"POST " + sandbox + "/renew":     {200, 403, 200, 404, 404, 401},
		"GET /healthz":                   {200, 200, 200, 200, 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(name, " ")
			for kind, status := range map[string]int{
				"root": want.root, "tenant": want.tenant, "holder": want.holder,
				"other": want.other, "unknown": want.unknown, "none": want.none,
			} {
				b := simtest.Start(t, simtest.Config())
				mine, other := b.Claim(simtest.ClaimBody("a/mine")), b.Claim(simtest.ClaimBody("a/other"))
				token := map[string]string{
					"root": simtest.RootToken, "tenant": simtest.TenantToken, "holder": mine.Token,
					"other": other.Token, "unknown": "guess", "none": "",
				}[kind]
				body := map[string]string{"/v1/claim": simtest.ClaimBody("a/b"), "/v1/pools": `{"pools":[]}`}[path]
				a, err := b.Try(method, strings.Replace(path, "{id}", mine.ID, 1), token, body)
				if err != nil || a.Status != status {
					t.Errorf("%s token: status %d, %v; want %d", kind, a.Status, err, status)
				}
				if status >= 400 {
					if got := len(b.List("").Sandboxes); got != 2 {
						t.Errorf("%s token: %d sandboxes after a refusal, want 2", kind, got)
					}
				}
			}
		})
	}
}

func TestAuthorizationHeader(t *testing.T) {
	for name, tc := range map[string]struct {
		header string
		status int
	}{
		"bearer":               {"Bearer " + simtest.RootToken, 200},
		"scheme in lower case": {"bearer " + simtest.RootToken, 200},
		"another scheme":       {"Basic " + simtest.RootToken, 401},
		"no scheme":            {simtest.RootToken, 401},
		"empty token":          {"Bearer ", 401},
		"longer token":         {"Bearer " + simtest.RootToken + "x", 401},
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sim/v1/info", nil)
			b.Must(err)
			req.Header.Set("Authorization", tc.header)
			if a, err := b.Send(req, ""); err != nil || a.Status != tc.status {
				t.Errorf("status %d, %v; want %d", a.Status, err, tc.status)
			}
		})
	}
}

func TestWithoutTenantAnEmptyTokenIsNobody(t *testing.T) {
	cfg := simtest.Config()
	cfg.TenantToken = ""
	b := simtest.Start(t, cfg)
	b.Want(401, "POST", "/v1/claim", simtest.TenantToken, simtest.ClaimBody("a/b"))
}

func TestUnroutedRequests(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.Want(404, "GET", "/v2/claim", simtest.RootToken, "")
	if a := b.Want(405, "GET", "/v1/claim", simtest.RootToken, ""); a.Header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", a.Header.Get("Allow"))
	}
	if got := b.Requests.List(history.RequestFilter{Endpoint: "unrouted"}).Requests; len(got) != 2 {
		t.Errorf("requests %+v", got)
	}
}
