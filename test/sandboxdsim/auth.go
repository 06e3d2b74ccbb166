// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"crypto/subtle"
	"net/http"
	"strings"
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
func (c *call) authorize() (Actor, error) {
	need := c.endpoint.access
	if need == anyone {
		return "", nil
	}
	scheme, token, _ := strings.Cut(c.request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", newError(http.StatusUnauthorized, "a bearer token is required")
	}
	cfg := c.server.env.cfg
	switch {
	case c.rejectToken:
	case same(token, cfg.RootToken):
		return ByRoot, nil
	case cfg.TenantToken != "" && same(token, cfg.TenantToken):
		if need != creators {
			return "", newError(http.StatusForbidden, "a tenant token may only create")
		}
		return ByTenant, nil
	case need == holders && !c.rejectSandboxToken:
		return c.holder(token)
	}
	if need == holders {
		return "", errNoSandbox(c.request.PathValue("id"))
	}
	return "", newError(http.StatusUnauthorized, "unknown token")
}

// holder checks a sandbox token against the sandbox in the path.
func (c *call) holder(token string) (Actor, error) {
	id := c.request.PathValue("id")
	err := c.daemon.do(func() error {
		if v, ok := c.daemon.vms[id]; !ok || v.Claim == nil || !same(token, v.Claim.Token) {
			return errNoSandbox(id)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return BySandbox, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
