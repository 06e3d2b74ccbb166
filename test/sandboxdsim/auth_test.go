// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"net/http"
	"strings"
	"testing"
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
		"POST /v1/drain":                 {204, 403, 401, 401, 401, 401},
		"DELETE /v1/drain":               {204, 403, 401, 401, 401, 401},
		"POST " + sandbox + "/release":   {204, 403, 204, 404, 404, 401},
		"POST " + sandbox + "/hibernate": {200, 403, 200, 404, 404, 401},
		"POST " + sandbox + "/wake":      {200, 403, 200, 404, 404, 401},
		"POST " + sandbox + "/renew":     {200, 403, 200, 404, 404, 401},
		"GET /healthz":                   {200, 200, 200, 200, 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(name, " ")
			for kind, status := range map[string]int{
				"root": want.root, "tenant": want.tenant, "holder": want.holder,
				"other": want.other, "unknown": want.unknown, "none": want.none,
			} {
				b := start(t, testConfig())
				mine, other := b.claim(claimBody("a/mine")), b.claim(claimBody("a/other"))
				token := map[string]string{
					"root": rootToken, "tenant": tenantToken, "holder": mine.Token,
					"other": other.Token, "unknown": "guess", "none": "",
				}[kind]
				body := ""
				if path == "/v1/claim" {
					body = claimBody("a/b")
				}
				a, err := b.try(method, strings.Replace(path, "{id}", mine.ID, 1), token, body)
				if err != nil || a.status != status {
					t.Errorf("%s token: status %d, %v; want %d", kind, a.status, err, status)
				}
				if status >= 400 {
					if got := len(b.list("").Sandboxes); got != 2 {
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
		"bearer":               {"Bearer " + rootToken, 200},
		"scheme in lower case": {"bearer " + rootToken, 200},
		"another scheme":       {"Basic " + rootToken, 401},
		"no scheme":            {rootToken, 401},
		"empty token":          {"Bearer ", 401},
		"longer token":         {"Bearer " + rootToken + "x", 401},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, testConfig())
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sim/v1/info", nil)
			b.do(err)
			req.Header.Set("Authorization", tc.header)
			if a, err := b.send(req, ""); err != nil || a.status != tc.status {
				t.Errorf("status %d, %v; want %d", a.status, err, tc.status)
			}
		})
	}
}

func TestWithoutTenantAnEmptyTokenIsNobody(t *testing.T) {
	cfg := testConfig()
	cfg.TenantToken = ""
	b := start(t, cfg)
	b.want(401, "POST", "/v1/claim", tenantToken, claimBody("a/b"))
}

func TestUnroutedRequests(t *testing.T) {
	b := start(t, testConfig())
	b.want(404, "GET", "/v2/claim", rootToken, "")
	if a := b.want(405, "GET", "/v1/claim", rootToken, ""); a.header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
	if got := b.Requests(RequestFilter{Endpoint: unrouted}).Requests; len(got) != 2 {
		t.Errorf("requests %+v", got)
	}
}
