// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubelet simulates virtual-kubelet's pod controller: its cache, its queues
// and its order of calls. It also loses what the library loses. It contains no
// expectations about the provider.
package kubelet
