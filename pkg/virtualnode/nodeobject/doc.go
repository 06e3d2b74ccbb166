// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodeobject has the Node of this host: its content, which host may serve it, and
// the controller that registers it and keeps it in the cluster.
//
//   - identity, lease and hostwatch decide which host serves the Node: one at a time.
//   - node and status hold the Node as this daemon wants it.
//   - controller and provider register it, renew its lease and publish its conditions.
//   - restore puts back the taint, the labels and the host identity that it has lost.
//
// It does not depend on Pods or on the meaning of the daemon's conditions.
package nodeobject
