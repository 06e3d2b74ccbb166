// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podcontract reads what an object asks for: the annotations that ask for a
// sandbox, the pool axes and the lease in them, and the label and taint that route a
// Pod to a virtual node. Whoever claims a sandbox for a Kubernetes object reads it here. How a
// Pod's status shows the claim is in pkg/podstatus. Everything is a pure
// function of its arguments.
//
// docs/pod-contract.md has the rules as users see them. The annotation keys are the
// sandbox-operator's selector keys, kept here because the operator's module is not
// available.
package podcontract
