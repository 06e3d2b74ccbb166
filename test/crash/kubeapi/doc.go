// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeapi is the part of a Kubernetes API server that the daemon
// talks to, over HTTP and in memory: Pods bound to a node, Nodes, leases,
// events, and the Sandboxes that own Pods, with watches, resource versions,
// status patches and preconditions as the API server has them.
//
// It stands in where a test starts and kills the real binary hundreds of times
// and has no cluster. Requests come in as JSON or protobuf, answers are JSON.
// Whatever the daemon does not use answers 404 or 405, so a new kind of
// request shows up as a failure and not as a silent success.
//
// Tests act as users and controllers through [Server.Create], [Server.Change]
// and [Server.Remove]; see each change through [Config.Observe]; and read every
// request through [Config.Inspect].
package kubeapi
