// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package virtualnode puts a virtual node into a cluster: the Node object and
// its lease, the pod controller that feeds a Pod provider, and the kubelet API
// with its TLS certificate. It knows nothing of claims.
//
// The order of a start is fixed, because each step protects the next:
//
//  1. The kubelet API listens. An address that cannot be bound ends the daemon
//     before anything is published.
//  2. The node's name is checked. A name that belongs to another node ends the
//     daemon before a single Pod of that node is looked at.
//  3. The pod controller starts: the Pods bound to this node reach the
//     provider.
//  4. The Node is registered, and from then on kept: re-created when someone
//     deletes it, its lease renewed, its conditions up to date.
//
// Steps 2 to 4 wait for an API server that is away, for as long as it takes.
package virtualnode
