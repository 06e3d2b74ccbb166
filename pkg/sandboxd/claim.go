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
// redirect that names warm peers and delivers nothing.
type claimAnswer struct {
	ID        string    `json:"id"`
	Token     string    `json:"token"`
	Deadline  time.Time `json:"deadline"`
	OwnerAddr string    `json:"owner_addr"`
	Redirect  []string  `json:"redirect"`
}

// Claim asks for one sandbox. A redirect is the same as no capacity: this
// provider serves one node (pod contract). An error of class [Unreachable]
// leaves the outcome open: a sandbox may exist whose token nobody received.
//
// An answer that lacks the id, the token or a usable address is an error of
// class [Unavailable]; when it does name a sandbox, the claim is returned
// beside the error, so that the caller can give the sandbox back.
func (cl *Client) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	var a claimAnswer
	c := call{op: "claim", method: http.MethodPost, path: "/v1/claim", body: req, timeout: ClaimTimeout}
	if err := cl.do(ctx, c, &a); err != nil {
		return Claim{}, err
	}
	if a.ID == "" && len(a.Redirect) > 0 {
		return Claim{}, &Error{Op: c.op, Class: NoCapacity, Status: http.StatusOK}
	}
	claim := Claim{ID: a.ID, Token: NewToken(a.Token), Deadline: a.Deadline, OwnerAddr: a.OwnerAddr}
	if a.ID == "" || a.Token == "" {
		return Claim{}, unreadable(c.op, http.StatusOK)
	}
	if host, _, err := net.SplitHostPort(a.OwnerAddr); err != nil || host == "" {
		return claim, unreadable(c.op, http.StatusOK)
	}
	return claim, nil
}
