// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import "net/http"

// info serves GET /v1/info.
func (c *call) info() (Reply, error) {
	i, err := c.daemon.Info()
	if err != nil {
		return Reply{}, err
	}
	return OK(i)
}

// drain serves POST /v1/drain: no more claims, and the warm VMs go.
func (c *call) drain() (Reply, error) {
	return Reply{Status: http.StatusNoContent}, c.daemon.Drain(true)
}

// undrain serves DELETE /v1/drain.
func (c *call) undrain() (Reply, error) {
	return Reply{Status: http.StatusNoContent}, c.daemon.Drain(false)
}

// healthz serves GET /healthz.
func (*call) healthz() (Reply, error) {
	return Reply{Status: http.StatusOK, body: []byte("ok"), plain: true}, nil
}
