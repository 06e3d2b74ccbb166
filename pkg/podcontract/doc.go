// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podcontract is the agreement between a sandbox Pod and this
// provider: the annotations that ask for a sandbox, the label and taint that
// route the Pod here, and the status that is written back. Everything in it
// is a pure function of its arguments.
//
// docs/pod-contract.md has the rules as users see them. The annotation keys are the
// sandbox-operator's selector keys, kept here because the operator's module is not
// available.
package podcontract
