// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakecluster completes the fake clientset of client-go for the tests of a virtual
// node: with the versions and conflicts of a real API server, and with a Pod and a Node's
// lease to begin with.
package fakecluster

// NodeName is the name of the virtual node.
const NodeName = "host-1-sandboxd"
