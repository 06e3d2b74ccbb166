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

// ClaimRequest asks for one sandbox (POST /v1/claim).
type ClaimRequest struct {
	// Template is the template axis of the pool. Required.
	Template string `json:"template"`
	// Net is the network axis; empty means sandboxd's default.
	Net string `json:"net,omitempty"`
	// Size is the VM size axis; empty means sandboxd's default.
	Size string `json:"size,omitempty"`
	// TTLSeconds is the lease in seconds. It is always sent: 0 has a meaning
	// of its own, sandboxd's five-minute default.
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
	// Deadline is the end of the lease, in UTC and in a form that can be encoded
	// again; zero when sandboxd named none, or one that cannot be read.
	Deadline time.Time
	// OwnerAddr is what sandboxd says serves the sandbox, as a rule a
	// host:port. It is passed on as it came, valid UTF-8 of at most 300 bytes;
	// empty when sandboxd named none, or one that is longer.
	OwnerAddr string
}

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

	RequirePromoted json.RawMessage `json:"require_promoted"`
}

// Redirect is the answer of a node that delivered nothing and names nodes that have
// warm VMs.
type Redirect struct {
	// Peers are the nodes, as host:port. The text comes from the daemon: a caller asks
	// only addresses that it knows.
	Peers []string
	// requirePromoted is passed on as it came.
	requirePromoted json.RawMessage
}

// RedirectOf returns the redirect that a claim was answered with, and whether it was
// one.
func RedirectOf(err error) (Redirect, bool) {
	var e *Error
	if !errors.As(err, &e) || e.redirect == nil {
		return Redirect{}, false
	}
	return *e.redirect, true
}

// Claim asks for one sandbox. A redirect delivers nothing, and so it is an error of class
// [NoCapacity]; [RedirectOf] gives its peers. An error of class [Unreachable]
// leaves the outcome open: a sandbox may exist whose token nobody received.
//
// An answer that lacks an id or a token that can release the sandbox is an
// error of class [Unavailable]. A deadline or an address that cannot be read is
// none: giving the sandbox back would only repeat the same answer, and each
// time consume a warm VM. These fields are then empty.
func (cl *Client) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	return cl.claim(ctx, req)
}

// ClaimRedirected is [Client.Claim] on a node that another node's redirect named. The
// node answers with a sandbox of its own or none: it does not redirect again.
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
		return claim, nil // whatever else the answer says: this sandbox has to be released by someone
	}
	if redirect, ok := a.redirect(); err == nil && a.ID == "" && ok {
		return Claim{}, &Error{Op: c.op, Class: NoCapacity, Status: http.StatusOK, redirect: &redirect}
	}
	if err == nil {
		err = unreadable(c.op, http.StatusOK)
	}
	return Claim{}, err
}

// redirect is the redirect that the answer is; not ok when it names no peer.
func (a claimAnswer) redirect() (r Redirect, ok bool) {
	r.requirePromoted = a.RequirePromoted
	return r, readField(a.Redirect, &r.Peers) && len(r.Peers) > 0
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
