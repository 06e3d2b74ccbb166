// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/http"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// release serves POST /v1/sandboxes/{id}/release: the VM is destroyed.
func (c *call) release() (Reply, error) {
	err := c.daemon.End(c.request.PathValue("id"), history.EventReleased, c.by)
	return Reply{Status: http.StatusNoContent}, err
}

// hibernate serves POST /v1/sandboxes/{id}/hibernate.
func (c *call) hibernate() (Reply, error) {
	return Reply{Status: http.StatusNoContent}, c.daemon.Hibernate(c.request.PathValue("id"), c.by)
}

// wake serves POST /v1/sandboxes/{id}/wake.
func (c *call) wake() (Reply, error) {
	_, err := c.daemon.Wake(c.request.PathValue("id"), c.by)
	return Reply{Status: http.StatusNoContent}, err
}

// renew serves POST /v1/sandboxes/{id}/renew with an optional ttl_seconds, which is read as a claim's is.
func (c *call) renew() (Reply, error) {
	var req struct {
		TTLSeconds int64 `json:"ttl_seconds"`
	}
	if err := c.decode(&req); err != nil {
		return Reply{}, err
	}
	v, err := c.daemon.Renew(c.request.PathValue("id"), c.by, req.TTLSeconds)
	if err != nil {
		return Reply{}, err
	}
	return OK(map[string]time.Time{"deadline": v.Claim.Deadline})
}
