// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver simulates the API server of one cluster: Pods, the Sandboxes,
// ReplicaSets and StatefulSets that own them, and the cluster's identity. It can fail, and it can be restored
// from a backup. It knows neither the daemon nor sandboxd.
package apiserver
