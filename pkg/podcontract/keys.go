// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

// Annotations of a sandbox Pod.
const (
	// AnnotationRuntime must be [RuntimeSandboxd]; absent means the same.
	AnnotationRuntime = "sandbox.cocoonstack.io/runtime"
	// AnnotationTemplate is the sandboxd template axis. Required.
	AnnotationTemplate = "sandbox.cocoonstack.io/template"
	// AnnotationNet is the claim's network axis; empty means sandboxd's default.
	AnnotationNet = "sandbox.cocoonstack.io/net"
	// AnnotationSize is the claim's VM size axis; empty means sandboxd's default.
	AnnotationSize = "sandbox.cocoonstack.io/size"
	// AnnotationTTLSeconds is the claim's lease in seconds.
	AnnotationTTLSeconds = "sandbox.cocoonstack.io/ttl-seconds"
	// AnnotationClaimID is written back with the status: the id of the claim
	// behind the Pod. It is not a credential.
	AnnotationClaimID = "sandbox.cocoonstack.io/claim-id"
)

// Routing to the virtual node.
const (
	// RuntimeSandboxd is the only runtime this node serves.
	RuntimeSandboxd = "sandboxd"
	// LabelRuntime is the node label that sandbox Pods select.
	LabelRuntime = "sandbox.cocoonstack.io/runtime"
	// TaintKey and TaintValue keep every other workload off the virtual node,
	// with effect NoSchedule.
	TaintKey   = "virtual-kubelet.io/provider"
	TaintValue = "sandboxd"
)

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

// DefaultTTLSeconds is the lease of a Pod without the ttl annotation:
// sandboxd's maximum for ordinary claims, 24 hours.
const DefaultTTLSeconds = 86400
