// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

// NodePool is the state of one warm pool. Source: architecture
// (NodeInfoSource: "per-pool warm/target"), sandboxd API (GET /v1/info).
type NodePool struct {
	// key is the pool's identity.
	Key PoolKey `json:"key"`

	// warm is the number of microVMs ready to be claimed.
	Warm int64 `json:"warm"`

	// target is the number of warm microVMs the node refills to.
	Target int64 `json:"target"`
}

// PoolKey is the identity of a pool: what a claim has to name to get a microVM
// from it. Source: operator API ("a (template, net, size) key"), sandboxd API.
type PoolKey struct {
	// template is the image the pool's microVMs run.
	Template string `json:"template"`

	// net is the network lane.
	// +optional
	Net string `json:"net,omitempty"`

	// size is the VM size.
	// +optional
	Size string `json:"size,omitempty"`
}
