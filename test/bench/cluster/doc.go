// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the control plane of the bench: it installs what the subjects need, makes bursts of Sandboxes
// and Pods, and observes when each Pod is bound, Running and gone.
package cluster
