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

// Info is the node's capacity (GET /v1/info). Unused fields are ignored.
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

// Flag is a field of newer daemons that is either a boolean or a reason. Absent, null,
// false and the empty text are false. It never fails to decode, so that an unknown form
// does not make the other fields unreadable.
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

// PoolTarget is the configuration of one warm pool. A nil field is not sent, and sandboxd
// then resets it: a caller sends every value that it wants to keep.
type PoolTarget struct {
	Key
	// Warm is how many warm VMs the node keeps ready.
	Warm int `json:"warm"`
	// WarmMax is how far the node may raise Warm by itself.
	WarmMax *int `json:"warm_max,omitempty"`
	// IdleHibernateSeconds is after how many idle seconds a sandbox hibernates.
	IdleHibernateSeconds *int64 `json:"idle_hibernate_seconds,omitempty"`
}

// SetPools durably replaces the node's whole set of pools, and returns the resulting
// state. A pool missing from the set is drained and its unclaimed VMs are destroyed, so
// the set must be complete. A set that sandboxd refuses is an error of class [Invalid]
// and changes nothing.
func (cl *Client) SetPools(ctx context.Context, pools []PoolTarget) (Info, error) {
	if pools == nil {
		pools = []PoolTarget{} // an empty list, not null
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
