// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubeletapi serves the kubelet API of a node without containers: the address,
// the certificate and the answers. It reads neither the cluster nor the node's Pods.
package kubeletapi
