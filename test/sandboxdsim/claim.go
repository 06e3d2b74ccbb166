// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

type claimRequest struct {
	Template   string `json:"template"`
	Net        string `json:"net"`
	Size       string `json:"size"`
	TTLSeconds int64  `json:"ttl_seconds"`
	ClaimRef   string `json:"claim_ref"`
	NoRedirect bool   `json:"no_redirect"`
}

type claimReply struct {
	ID             string    `json:"id,omitempty"`
	Token          string    `json:"token,omitempty"`
	Deadline       time.Time `json:"deadline,omitzero"`
	OwnerAddr      string    `json:"owner_addr,omitempty"`
	TemplateDigest string    `json:"template_digest,omitempty"`
	Redirect       []string  `json:"redirect,omitempty"`
}

// claim serves POST /v1/claim: the claim is kept before the answer is written.
func (c *call) claim() (reply, error) {
	var req claimRequest
	if err := c.decode(&req); err != nil {
		return reply{}, err
	}
	if req.TTLSeconds < 0 {
		return reply{}, newError(http.StatusBadRequest, "ttl_seconds %d is negative", req.TTLSeconds)
	}
	key := Key{req.Template, req.Net, req.Size}.withDefaults()
	d := c.daemon
	var t ticket
	var peers []string
	err := d.do(func() (err error) {
		t, peers, err = d.admit(key, c.by, req.NoRedirect)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	if peers != nil {
		return ok(claimReply{Redirect: peers})
	}
	if err := c.provision(t.how); err != nil {
		return reply{}, err
	}
	v, err := c.bind(t, req)
	if err != nil {
		return reply{}, err
	}
	digest := sha256.Sum256([]byte(v.Key.Template))
	rep, err := ok(claimReply{
		ID: v.ID, Token: v.Claim.Token, Deadline: v.Claim.Deadline, OwnerAddr: d.cfg.AdvertiseAddr,
		TemplateDigest: "sha256:" + hex.EncodeToString(digest[:]),
	})
	rep.claimed = v
	return rep, err
}

func (c *call) provision(how Provision) error {
	length, err := c.daemon.random.between(c.daemon.cfg.Latency[how])
	if err != nil {
		return err
	}
	return c.daemon.pause(length)
}

func (c *call) bind(t ticket, req claimRequest) (v vm, err error) {
	now := c.daemon.cfg.Clock.Now().UTC()
	made := claim{Ref: req.ClaimRef, By: c.by, TTL: Duration(grantTTL(req.TTLSeconds)), ClaimedAt: now}
	made.startLease(now)
	err = c.daemon.do(func() error {
		v, err = c.daemon.bind(t, made)
		return err
	})
	return v, err
}
