// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "net/http"

// hibernate serves POST /v1/sandboxes/{id}/hibernate.
func (c *call) hibernate() (reply, error) {
	return c.change(EventHibernated, c.daemon.hibernate)
}

// wake serves POST /v1/sandboxes/{id}/wake.
func (c *call) wake() (reply, error) {
	return c.change(EventWoken, c.daemon.wake)
}

// renew serves POST /v1/sandboxes/{id}/renew with an optional ttl_seconds, which is read as a claim's is.
func (c *call) renew() (reply, error) {
	var req struct {
		TTLSeconds int64 `json:"ttl_seconds"`
	}
	if err := c.decode(&req); err != nil {
		return reply{}, err
	}
	if req.TTLSeconds < 0 {
		return reply{}, newError(http.StatusBadRequest, "ttl_seconds %d is negative", req.TTLSeconds)
	}
	return c.change(EventRenewed, c.daemon.renew(req.TTLSeconds))
}

// change answers with the row as it is afterwards.
func (c *call) change(how EventType, fn func(*claim) error) (reply, error) {
	var v vm
	err := c.daemon.do(func() (err error) {
		v, err = c.daemon.change(c.request.PathValue("id"), how, c.by, fn)
		return err
	})
	if err != nil {
		return reply{}, err
	}
	return ok(newRow(v))
}
