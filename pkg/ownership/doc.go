// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ownership decides whether a sandbox whose Pod is gone may be
// destroyed. Deleting a Pod proves nothing: a taint eviction deletes every Pod
// of a node while the microVMs keep serving users. So the object that owns the
// intent is read, and only what was read decides.
//
// Reads are quorum reads: no cache, no informer. Nothing is written. Every
// doubt, an error, a 404 whose shape is unverified or an owner that cannot be
// resolved, preserves.
package ownership
