// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e proves the main job on a real Kubernetes: the chart installed with
// helm, the daemon in its DaemonSet Pod, Pods bound by the real scheduler. What
// became of a microVM is asked of the simulated sandboxd's own record, never
// concluded from what the daemon says.
//
// The tests have the build tag e2e and need the cluster of hack/cluster; "make
// test-e2e" starts one, runs them and ends it. Each test has a namespace of its
// own, and is over only when no microVM of that namespace is alive. Tests that
// disturb the whole host (its capacity, the daemon, the Node) come first, one
// at a time; all others run side by side.
package e2e
