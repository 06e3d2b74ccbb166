// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// row is a sandbox in the index. It has no token.
type row struct {
	ID         string     `json:"id"`
	Key        config.Key `json:"key"`
	Deadline   time.Time  `json:"deadline"`
	Hibernated bool       `json:"hibernated"`
	Archived   bool       `json:"archived,omitempty"`
	ClaimRef   string     `json:"claim_ref,omitempty"`
	ClaimedAt  time.Time  `json:"claimed_at"`
}

func newRow(v host.VM) row {
	return row{
		ID: v.ID, Key: v.Key, Deadline: v.Claim.Deadline, Hibernated: v.Claim.Hibernated(),
		Archived: v.Claim.Archived, ClaimRef: v.Claim.Ref, ClaimedAt: v.Claim.ClaimedAt,
	}
}

// index returns the rows that this request gets to see, the oldest claim first.
func (c *call) index() ([]row, error) {
	rows := []row{}
	held, err := c.daemon.Claims()
	for _, v := range held {
		rows = append(rows, newRow(v))
	}
	return c.omit(rows), err
}

// list serves GET /v1/sandboxes.
func (c *call) list() (Reply, error) {
	rows, err := c.index()
	if err != nil {
		return Reply{}, err
	}
	if ref := c.request.URL.Query().Get("claim_ref"); ref != "" {
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.ClaimRef != ref })
	}
	return OK(map[string][]row{"sandboxes": rows})
}

// get serves GET /v1/sandboxes/{id}.
func (c *call) get() (Reply, error) {
	rows, err := c.index()
	if err != nil {
		return Reply{}, err
	}
	id := c.request.PathValue("id")
	for _, r := range rows {
		if r.ID == id {
			return OK(r)
		}
	}
	return Reply{}, host.NoSandbox(id)
}
