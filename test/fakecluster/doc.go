// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakecluster extends client-go's fake clientset for the tests of a virtual node.
// It adds the versions and conflicts of a real API server, and has an initial Pod and Node
// lease.
package fakecluster

// NodeName is the name of the virtual node.
const NodeName = "host-1-sandboxd"
