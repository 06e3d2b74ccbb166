// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"encoding/json"
	"net/http"
)

// maxAddress bounds an address in bytes: a host name has at most 253, an IPv6
// address with a zone fewer.
const maxAddress = 300

// claimAnswer is the wire form of a claim's answer: either a sandbox, or a
// redirect that names warm peers and delivers nothing. Only the id and the
// token are needed to own a sandbox, so the other fields are decoded on their
// own and cannot cost these two.
type claimAnswer struct {
	ID        string          `json:"id"`
	Token     string          `json:"token"`
	Deadline  json.RawMessage `json:"deadline"`
	OwnerAddr json.RawMessage `json:"owner_addr"`
	Redirect  json.RawMessage `json:"redirect"`
}

// Claim asks for one sandbox. A redirect is the same as no capacity: this
// provider serves one node. An error of class [Unreachable]
// leaves the outcome open: a sandbox may exist whose token nobody received.
//
// An answer that lacks an id or a token that can release the sandbox is an
// error of class [Unavailable]. A deadline or an address that cannot be read is
// none: giving the sandbox back would only repeat the same answer, and each
// time consume a warm VM. These fields are then empty.
func (cl *Client) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	var a claimAnswer
	c := call{op: opClaim, method: http.MethodPost, path: "/v1/claim", body: req, timeout: ClaimTimeout}
	err := cl.do(ctx, c, &a)
	if claim, ok := a.claim(); ok {
		return claim, nil // whatever else the answer says: this sandbox has to be released by someone
	}
	if err == nil && a.ID == "" && a.redirects() {
		return Claim{}, &Error{Op: c.op, Class: NoCapacity, Status: http.StatusOK}
	}
	if err == nil {
		err = unreadable(c.op, http.StatusOK)
	}
	return Claim{}, err
}

// redirects reports whether the answer names peers.
func (a claimAnswer) redirects() bool {
	var peers []string
	return readField(a.Redirect, &peers) && len(peers) > 0
}

// claim is the sandbox that the answer delivers; not ok when it does not have an
// id and a token that can release it.
func (a claimAnswer) claim() (c Claim, ok bool) {
	token := NewToken(a.Token)
	if !addressable(a.ID) || token.Empty() || !token.sendable() {
		return Claim{}, false
	}
	c = Claim{ID: a.ID, Token: token}
	readTime(a.Deadline, &c.Deadline)
	// A longer text is dropped, not cut: the first part of an address is another address.
	var address string
	if readField(a.OwnerAddr, &address) && len(address) <= maxAddress {
		c.OwnerAddr = address
	}
	return c, true
}
