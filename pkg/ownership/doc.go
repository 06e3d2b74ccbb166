// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownership decides whether a sandbox whose Pod is gone may be destroyed.
// Deleting a Pod proves nothing: a taint eviction deletes every Pod of a node while the
// microVMs keep serving users. The decision is made by reading the Pod's owner.
//
// Reads are quorum reads, without a cache or an informer, and nothing is written. Any
// doubt preserves: an error, a 404 that does not name the object, or an owner that cannot
// be resolved.
package ownership
