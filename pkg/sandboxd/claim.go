// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// maxAddress bounds an address in bytes: a host name has at most 253, an IPv6
// address with a zone fewer.
const maxAddress = 300

// ClaimRequest requests one sandbox (POST /v1/claim).
type ClaimRequest struct {
	// Template is the template axis of the pool. Required.
	Template string `json:"template"`
	// Net is the network axis; empty means sandboxd's default.
	Net string `json:"net,omitempty"`
	// Size is the VM size axis; empty means sandboxd's default.
	Size string `json:"size,omitempty"`
	// TTLSeconds is the lease in seconds. It is always sent, because 0 means sandboxd's
	// five-minute default.
	TTLSeconds int64 `json:"ttl_seconds"`
	// ClaimRef is opaque to sandboxd and echoed in its index. This project
	// sends <namespace>/<name>.
	ClaimRef string `json:"claim_ref,omitempty"`
}

// Claim is a sandbox that sandboxd has delivered.
type Claim struct {
	// ID is the sandbox's id on its node.
	ID string
	// Token authorises the sandbox's release.
	Token Token
	// Deadline is the end of the lease, in UTC and encodable; zero if sandboxd sent none,
	// or one that cannot be read.
	Deadline time.Time
	// OwnerAddr is the address that serves the sandbox according to sandboxd, normally a
	// host:port. It is passed on unchanged: valid UTF-8 of at most 300 bytes; empty if
	// sandboxd sent none, or a longer one.
	OwnerAddr string
}

// claimAnswer is the wire form of a claim's answer: either a sandbox, or a redirect that
// names warm peers and delivers nothing. Only the id and the token are needed to own a
// sandbox, so each other field is decoded separately and cannot fail these two.
type claimAnswer struct {
	ID        string          `json:"id"`
	Token     string          `json:"token"`
	Deadline  json.RawMessage `json:"deadline"`
	OwnerAddr json.RawMessage `json:"owner_addr"`
	Redirect  json.RawMessage `json:"redirect"`

	RequirePromoted json.RawMessage `json:"require_promoted"`
}

// Redirect is the answer of a node that delivers nothing and names nodes with warm VMs.
type Redirect struct {
	// Peers are the nodes, as host:port. The text is untrusted: a caller contacts only
	// addresses that it knows.
	Peers []string
	// requirePromoted is passed on unchanged.
	requirePromoted json.RawMessage
}

// RedirectOf returns the redirect in a claim's error, and whether there was one.
func RedirectOf(err error) (Redirect, bool) {
	var e *Error
	if !errors.As(err, &e) || e.redirect == nil {
		return Redirect{}, false
	}
	return *e.redirect, true
}

// Claim claims one sandbox. A redirect delivers nothing and is an error of class
// [NoCapacity]; [RedirectOf] returns its peers. After an error of class [Unreachable] the
// outcome is unknown: a sandbox may exist whose token nobody received.
//
// An answer without an id or a usable token is an error of class [Unavailable]. An
// unreadable deadline or address is no error, and the field is empty: returning the
// sandbox would only get the same answer again and consume a warm VM each time.
func (cl *Client) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	return cl.claim(ctx, req)
}

// ClaimRedirected is [Client.Claim] on a node named by another node's redirect. That node
// does not redirect again.
func (cl *Client) ClaimRedirected(ctx context.Context, req ClaimRequest, redirect Redirect) (Claim, error) {
	return cl.claim(ctx, struct {
		ClaimRequest
		NoRedirect      bool            `json:"no_redirect"`
		RequirePromoted json.RawMessage `json:"require_promoted,omitempty"`
	}{req, true, redirect.requirePromoted})
}

func (cl *Client) claim(ctx context.Context, body any) (Claim, error) {
	var a claimAnswer
	c := call{op: opClaim, method: http.MethodPost, path: "/v1/claim", body: body, timeout: ClaimTimeout}
	err := cl.do(ctx, c, &a)
	if claim, ok := a.claim(); ok {
		return claim, nil // whatever else the answer contains, this sandbox must be released by its owner
	}
	if redirect, ok := a.redirect(); err == nil && a.ID == "" && ok {
		return Claim{}, &Error{Op: c.op, Class: NoCapacity, Status: http.StatusOK, redirect: &redirect}
	}
	if err == nil {
		err = unreadable(c.op, http.StatusOK)
	}
	return Claim{}, err
}

// redirect returns the answer's redirect; ok is false if it names no peer.
func (a claimAnswer) redirect() (r Redirect, ok bool) {
	r.requirePromoted = a.RequirePromoted
	return r, readField(a.Redirect, &r.Peers) && len(r.Peers) > 0
}

// claim returns the delivered sandbox; ok is false without an id or a usable token.
func (a claimAnswer) claim() (c Claim, ok bool) {
	token := NewToken(a.Token)
	if !addressable(a.ID) || token.Empty() || !token.sendable() {
		return Claim{}, false
	}
	c = Claim{ID: a.ID, Token: token}
	readTime(a.Deadline, &c.Deadline)
	// A longer text is dropped, not cut: a cut address is another address.
	var address string
	if readField(a.OwnerAddr, &address) && len(address) <= maxAddress {
		c.OwnerAddr = address
	}
	return c, true
}
