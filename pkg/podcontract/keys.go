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
	// AnnotationClaimID is the id of the claim behind the Pod, written back with the
	// status. It is not a credential.
	AnnotationClaimID = "sandbox.cocoonstack.io/claim-id"
)

// Routing to the virtual node.
const (
	// RuntimeSandboxd is the only runtime this node serves.
	RuntimeSandboxd = "sandboxd"
	// LabelRuntime is the node label that sandbox Pods select.
	LabelRuntime = "sandbox.cocoonstack.io/runtime"
	// TaintKey and TaintValue, with effect NoSchedule, keep other workloads off the
	// virtual node.
	TaintKey   = "virtual-kubelet.io/provider"
	TaintValue = "sandboxd"
)
