// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import "time"

// ClaimRequest asks for one sandbox (POST /v1/claim).
type ClaimRequest struct {
	// Template is the template axis of the pool. Required.
	Template string `json:"template"`
	// Net is the network axis; empty means sandboxd's default.
	Net string `json:"net,omitempty"`
	// Size is the VM size axis; empty means sandboxd's default.
	Size string `json:"size,omitempty"`
	// TTLSeconds is the lease in seconds. It is always sent: 0 has a meaning
	// of its own, sandboxd's five-minute default.
	TTLSeconds int64 `json:"ttl_seconds"`
	// ClaimRef is opaque to sandboxd and echoed in its index. This project
	// sends the Pod key, <namespace>/<name>.
	ClaimRef string `json:"claim_ref,omitempty"`
}

// Claim is a sandbox that sandboxd has delivered.
type Claim struct {
	// ID is the sandbox's id on its node.
	ID string
	// Token authorises the sandbox's release.
	Token Token
	// Deadline is the end of the lease, in UTC and in a form that can be encoded
	// again; zero when sandboxd named none, or one that cannot be read.
	Deadline time.Time
	// OwnerAddr is what sandboxd says serves the sandbox, as a rule a
	// host:port. It is passed on as it came, valid UTF-8 of at most 300 bytes;
	// empty when sandboxd named none, or one that is longer.
	OwnerAddr string
}

// Key is a pool's identity.
type Key struct {
	Template string `json:"template"`
	Net      string `json:"net"`
	Size     string `json:"size"`
}

// Sandbox is one row of the node's index. It never has a token.
type Sandbox struct {
	ID  string `json:"id"`
	Key Key    `json:"key"`
	// Deadline is the end of the lease; zero when it is not known.
	Deadline   time.Time `json:"deadline"`
	Hibernated bool      `json:"hibernated"`
	// Archived sandboxes have left the node's memory and disk; their deadline
	// is the store's retention window.
	Archived  bool      `json:"archived"`
	ClaimRef  string    `json:"claim_ref"`
	ClaimedAt time.Time `json:"claimed_at"`
	// Malformed means that a field beside the id has another type or form than
	// the API's. Such fields have their zero value; the sandbox exists.
	Malformed bool `json:"-"`
}

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
}
