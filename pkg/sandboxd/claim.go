// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"net"
	"net/http"
	"time"
)

// claimAnswer is the wire form of a claim's answer: either a sandbox, or a
// redirect that names warm peers and delivers nothing. The deadline is text, so
// that one which cannot be read does not cost the id and the token.
type claimAnswer struct {
	ID        string   `json:"id"`
	Token     string   `json:"token"`
	Deadline  string   `json:"deadline"`
	OwnerAddr string   `json:"owner_addr"`
	Redirect  []string `json:"redirect"`
}

// Claim asks for one sandbox. A redirect is the same as no capacity: this
// provider serves one node (pod contract). An error of class [Unreachable]
// leaves the outcome open: a sandbox may exist whose token nobody received.
//
// An answer that lacks the id, the token or a usable address, or that has
// another field which cannot be read, is an error of class [Unavailable]. When
// it does have the id and the token, the claim is returned beside the error, so
// that the caller can give the sandbox back.
func (cl *Client) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	var a claimAnswer
	c := call{op: opClaim, method: http.MethodPost, path: "/v1/claim", body: req, timeout: ClaimTimeout}
	err := cl.do(ctx, c, &a)
	if err == nil && a.ID == "" && len(a.Redirect) > 0 {
		return Claim{}, &Error{Op: c.op, Class: NoCapacity, Status: http.StatusOK}
	}
	claim, ok := a.claim()
	if err == nil && !ok {
		err = unreadable(c.op, http.StatusOK)
	}
	return claim, err
}

// claim is the sandbox that the answer names, if it does so with an id and a
// token that can release it; ok says that the answer has all that a claim needs. A missing
// deadline is the zero time.
func (a claimAnswer) claim() (c Claim, ok bool) {
	token := NewToken(a.Token)
	if !addressable(a.ID) || token.Empty() || !token.sendable() {
		return Claim{}, false
	}
	host, _, err := net.SplitHostPort(a.OwnerAddr)
	ok = err == nil && host != ""
	var deadline time.Time
	if a.Deadline != "" {
		deadline, err = time.Parse(time.RFC3339, a.Deadline)
		ok = ok && err == nil
	}
	return Claim{ID: a.ID, Token: token, Deadline: deadline, OwnerAddr: a.OwnerAddr}, ok
}
