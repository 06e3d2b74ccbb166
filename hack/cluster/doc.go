// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a real Kubernetes on this machine, for development and
// end-to-end tests.
//
// It builds etcd and the Kubernetes programs from their Go modules, once, into
// the user's cache folder, and starts them: a control plane in the machine's
// own network namespace, and any number of hosts, each with its own network,
// mount, PID and UTS namespaces, address, containerd, kubelet, kube-proxy,
// hostPath root and sandboxd. No container engine and no image registry is
// needed. With CLUSTER=kind in the environment, the same sub-commands drive
// kind and Docker instead, with a cluster of its own for every state folder.
//
// What a running cluster consists of is written to cluster.json in the state
// folder: $VK_SANDBOX_CLUSTER_DIR, or .cluster at the top of the repository.
package main
