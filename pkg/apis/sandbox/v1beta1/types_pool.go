// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

// NodePool is the state of one warm pool. Its identity is the key (template,
// net, size), which a claim has to name to get a microVM from it. Source:
// operator API ("a (template, net, size) key"), sandboxd API (GET /v1/info).
type NodePool struct {
	// template is the image the pool's microVMs run. Only objects of the first
	// builds lack it, which is why the schema does not require it.
	// +optional
	Template string `json:"template,omitempty"`

	// net is the network lane.
	// +optional
	Net string `json:"net,omitempty"`

	// size is the VM size.
	// +optional
	Size string `json:"size,omitempty"`

	// warm is the number of microVMs ready to be claimed.
	Warm int64 `json:"warm"`

	// target is the number of warm microVMs the node refills to.
	Target int64 `json:"target"`

	// key is where the first builds published the pool's identity. It is
	// deprecated: only objects that they left have it, and nobody writes it.
	// +optional
	Key *PoolKey `json:"key,omitempty"`
}

// PoolKey is the identity of a pool in objects of the first builds.
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
