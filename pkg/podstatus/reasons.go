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
	// ReasonLost: before the end of the lease, the node no longer holds the sandbox of a
	// Pod that ran.
	ReasonLost = "SandboxLost"
	// ReasonDeleted: the Pod was deleted and its claim is decided, but a finalizer or the
	// like keeps its object.
	ReasonDeleted = "SandboxPodDeleted"
)
