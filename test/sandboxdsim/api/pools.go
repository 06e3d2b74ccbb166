// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"net/http"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// poolRequest is one pool of PUT /v1/pools.
type poolRequest struct {
	config.Key
	Warm                 int   `json:"warm"`
	WarmMax              *int  `json:"warm_max"`
	IdleHibernateSeconds int64 `json:"idle_hibernate_seconds"`
	// Egress and Warmup can be set in the daemon's configuration only.
	Egress json.RawMessage `json:"egress"`
	Warmup json.RawMessage `json:"warmup"`
}

// pool returns the pool, or what is wrong with the fields that the host does not know.
func (r poolRequest) pool() (config.Pool, error) {
	p := config.Pool{Key: r.WithDefaults(), Target: r.Warm}
	switch {
	case r.Egress != nil || r.Warmup != nil:
		return p, host.Errorf(http.StatusBadRequest, "pool %v: egress and warmup can only be configured", p.Key)
	case r.WarmMax != nil && *r.WarmMax < r.Warm:
		return p, host.Errorf(http.StatusBadRequest, "pool %v: warm_max %d is under warm %d", p.Key, *r.WarmMax, r.Warm)
	case r.IdleHibernateSeconds < 0:
		return p, host.Errorf(http.StatusBadRequest, "pool %v: idle_hibernate_seconds %d is negative", p.Key, r.IdleHibernateSeconds)
	}
	return p, nil
}

// setPools serves PUT /v1/pools: the set replaces the node's, and the answer is that of GET /v1/info.
func (c *call) setPools() (Reply, error) {
	var req struct {
		Pools []poolRequest `json:"pools"`
	}
	if err := c.decode(&req); err != nil {
		return Reply{}, err
	}
	if req.Pools == nil {
		return Reply{}, host.Errorf(http.StatusBadRequest, "pools is required: the set replaces all pools")
	}
	set := []config.Pool{}
	for _, r := range req.Pools {
		p, err := r.pool()
		if err != nil {
			return Reply{}, err
		}
		set = append(set, p)
	}
	if err := c.daemon.SetPools(set, c.by); err != nil {
		return Reply{}, err
	}
	return c.info()
}
