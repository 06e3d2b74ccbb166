// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the chart and the daemon on a real Kubernetes: helm installs the
// chart, the daemon runs in its DaemonSet Pod, and the real scheduler binds the Pods.
// The state of a microVM is read from the simulated sandboxd, never derived from the
// daemon's output.
//
// The tests have the build tag e2e and need the cluster of hack/cluster; "make
// test-e2e" starts one, runs them and ends it. Each test has its own namespace and
// passes only if no microVM of that namespace is left. Tests that affect a whole host
// (its capacity, the daemon, the Node) run first, one at a time; all others run in
// parallel.
package e2e
