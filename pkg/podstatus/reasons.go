// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus

// Reasons of a Pod status. All but ReasonAwaitingClaim end the Pod.
const (
	// ReasonAwaitingClaim: the Pod has no sandbox yet; the message says why.
	ReasonAwaitingClaim = "AwaitingSandbox"
	// ReasonLeaseExpired: the lease passed and the node confirmed that the
	// sandbox is gone.
	ReasonLeaseExpired = "SandboxLeaseExpired"
	// ReasonLost: the node no longer holds the sandbox of a Pod that ran,
	// before the end of its lease.
	ReasonLost = "SandboxLost"
	// ReasonDeleted: the Pod was deleted, its claim is decided, and something else,
	// such as a finalizer, keeps its object.
	ReasonDeleted = "SandboxPodDeleted"
)
