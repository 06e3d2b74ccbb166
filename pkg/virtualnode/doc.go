// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package virtualnode puts a virtual node into a cluster. It runs the pod controller that
// feeds a Pod provider, beside three parts with packages of their own:
//
//	nodeobject  the Node object and its lease, and which host may serve them
//	podcache    the Pods bound to the node, and the statuses that are written to them
//	kubeletapi  the kubelet API and its certificate
//
// It does not depend on claims. The order of a start is fixed, because each step protects
// the next:
//
//  1. The kubelet API listens. An address that cannot be bound ends the daemon
//     before anything is published.
//  2. The node's name is checked. A name that belongs to another node, or to
//     another host that renews its lease, ends the daemon before a single Pod of
//     that node is looked at.
//  3. The pod controller starts: the Pods bound to this node reach the
//     provider.
//  4. The Node is registered, and from then on kept: re-created when someone
//     deletes it, its lease renewed, its conditions up to date, its taint and
//     labels restored. A Node that another host takes over ends the daemon.
//
// A daemon that may not serve Pods yet (see [Config.Admitted]) does step 4 first, with a
// Node that has no room for Pods: the Node's conditions say why, nothing is scheduled to
// it, and the Pods that it has are not evicted. Step 3 follows once the daemon is
// admitted, and then the Node gets its room.
//
// Steps 2 to 4 wait for an API server that is unreachable, for as long as it takes.
package virtualnode
