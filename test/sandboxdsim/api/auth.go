// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// access is who may call an endpoint. Root may call all of them.
type access int

const (
	// anyone needs no token.
	anyone access = iota
	// creators are root and the tenant.
	creators
	// operators are root alone.
	operators
	// holders are root and whoever has the token of the sandbox.
	holders
)

// authorize finds out whose token the request carries and whether it is enough. A wrong sandbox token
// is answered like an id that does not exist.
func (c *call) authorize() (history.Actor, error) {
	need := c.endpoint.access
	if need == anyone {
		return "", nil
	}
	scheme, token, _ := strings.Cut(c.request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", host.Errorf(http.StatusUnauthorized, "a bearer token is required")
	}
	cfg := c.server.config
	switch {
	case c.rejectToken:
	case same(token, cfg.RootToken):
		return history.ByRoot, nil
	case cfg.TenantToken != "" && same(token, cfg.TenantToken):
		if need != creators {
			return "", host.Errorf(http.StatusForbidden, "a tenant token may only create")
		}
		return history.ByTenant, nil
	case need == holders && !c.rejectSandboxToken:
		if err := c.daemon.Holds(c.request.PathValue("id"), token); err != nil {
			return "", err
		}
		return history.BySandbox, nil
	}
	if need == holders {
		return "", host.NoSandbox(c.request.PathValue("id"))
	}
	return "", host.Errorf(http.StatusUnauthorized, "unknown token")
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
