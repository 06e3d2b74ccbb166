// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model checks the observable behaviour of a simulated host against the
// rules of docs/architecture.md. It records published statuses, the node's events,
// the API server's Pods and the durable file. It does not act on the host, and it
// does not read the provider's decisions.
package model
