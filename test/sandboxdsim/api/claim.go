// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
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
func (c *call) claim() (Reply, error) {
	var req claimRequest
	if err := c.decode(&req); err != nil {
		return Reply{}, err
	}
	v, peers, err := c.daemon.Claim(host.ClaimRequest{
		Key:        config.Key{Template: req.Template, Net: req.Net, Size: req.Size}.WithDefaults(),
		TTLSeconds: req.TTLSeconds, Ref: req.ClaimRef, NoRedirect: req.NoRedirect, By: c.by,
	})
	if err != nil {
		return Reply{}, err
	}
	if peers != nil {
		return OK(claimReply{Redirect: peers})
	}
	digest := sha256.Sum256([]byte(v.Key.Template))
	rep, err := OK(claimReply{
		ID: v.ID, Token: v.Claim.Token, Deadline: v.Claim.Deadline, OwnerAddr: c.server.config.AdvertiseAddr,
		TemplateDigest: "sha256:" + hex.EncodeToString(digest[:]),
	})
	rep.claimed = v
	return rep, err
}
