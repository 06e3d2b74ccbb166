// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"net/http"
)

// Pool is the state of one warm pool.
type Pool struct {
	Key       Key  `json:"key"`
	Warm      int  `json:"warm"`
	Refilling int  `json:"refilling"`
	Target    int  `json:"target"`
	Golden    bool `json:"golden"`
}

// Info is the node's capacity (GET /v1/info). Fields that this project does
// not use are ignored, as newer daemons add some.
type Info struct {
	Pools      []Pool `json:"pools"`
	Claimed    int    `json:"claimed"`
	Hibernated int    `json:"hibernated"`
	// Draining is true when the node takes no claims; false on daemons that do not
	// report it.
	Draining Flag `json:"draining"`
	// AtCapacity is true when the node has no room for another sandbox; false on
	// daemons that do not report it.
	AtCapacity Flag `json:"at_capacity"`
}

// Flag is a field that newer daemons have, as a boolean or as the reason for
// it. Absent, null, false and the empty text are false. It never fails to decode, so that
// a form nobody knows yet costs none of the other fields.
type Flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *Flag) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "null", "false", `""`:
		*f = false
	default:
		*f = true
	}
	return nil
}

// Info returns the node's pools and counts.
func (cl *Client) Info(ctx context.Context) (Info, error) {
	var i Info
	err := cl.do(ctx, call{op: "info", method: http.MethodGet, path: "/v1/info"}, &i)
	return i, err
}

// PoolTarget is the configuration of one warm pool. A field that is nil is not sent,
// and sandboxd then forgets what it had: a caller sends again what it wants to keep.
type PoolTarget struct {
	Key
	// Warm is how many warm VMs the node keeps ready.
	Warm int `json:"warm"`
	// WarmMax is how far the node may raise Warm by itself.
	WarmMax *int `json:"warm_max,omitempty"`
	// IdleHibernateSeconds is after how many idle seconds a sandbox hibernates.
	IdleHibernateSeconds *int64 `json:"idle_hibernate_seconds,omitempty"`
}

// SetPools replaces the whole set of the node's pools, durably, and returns the state
// after it. A pool that is not in the set is drained and its unclaimed VMs are
// destroyed, so the set must come from a complete picture. A set that sandboxd
// refuses is an error of class [Invalid] and changes nothing.
func (cl *Client) SetPools(ctx context.Context, pools []PoolTarget) (Info, error) {
	if pools == nil {
		pools = []PoolTarget{} // sent as an empty list, which null is not
	}
	body := struct {
		Pools []PoolTarget `json:"pools"`
	}{pools}
	var i Info
	c := call{op: "set pools", method: http.MethodPut, path: "/v1/pools", body: body}
	if err := cl.do(ctx, c, &i); err != nil {
		return Info{}, err
	}
	if i.Pools == nil {
		return Info{}, unreadable(c.op, http.StatusOK)
	}
	return i, nil
}
