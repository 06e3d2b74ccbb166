// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podcontract reads an object's request for a sandbox: the annotations with the
// pool axes and the lease, and the label and taint that route a Pod to a virtual node.
// Everyone who claims a sandbox for a Kubernetes object reads the request here. The
// status that shows the claim is in pkg/podstatus. Everything is a pure function of its
// arguments.
//
// docs/pod-contract.md has the rules for users. The annotation keys are the
// sandbox-operator's selector keys, kept here because the operator's module is not
// available.
package podcontract
