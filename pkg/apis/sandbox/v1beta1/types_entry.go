// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SandboxPhase is whether a sandbox runs.
//
// +kubebuilder:validation:Enum=Running;Hibernated
type SandboxPhase string

const (
	// SandboxRunning is a sandbox in the node's memory.
	SandboxRunning SandboxPhase = "Running"
	// SandboxHibernated is a sandbox whose memory is on disk, or that has been
	// archived off the node.
	SandboxHibernated SandboxPhase = "Hibernated"
)

// NodeEntry is one sandbox of the node. The aggregated API server sets the labels
// for node, phase, claim and template from these fields.
type NodeEntry struct {
	// name is the claim_ref the sandbox was claimed with, <namespace>/<name>, or the id
	// of a sandbox without one. Comparing name with id distinguishes the two.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// id is sandboxd's claim id, the handle for a release on this node.
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id"`

	// phase is Running or Hibernated.
	Phase SandboxPhase `json:"phase"`

	// claimRef is the claim_ref the sandbox was claimed with; empty for a
	// sandbox without one.
	// +optional
	ClaimRef string `json:"claimRef,omitempty"`

	// addr is the host:port that serves the sandbox, known for the node's own
	// claims only.
	// +optional
	Addr string `json:"addr,omitempty"`

	// template is the template of the sandbox's pool, unchanged.
	// +optional
	Template string `json:"template,omitempty"`

	// claimedAt is when the sandbox was claimed, as the node recorded it.
	// +optional
	ClaimedAt *metav1.Time `json:"claimedAt,omitempty"`

	// deadline is the end of the lease in the node's index. It can become earlier or
	// later.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// metadata has the labels of the claim. This project's node agent does not publish
	// it.
	// +optional
	Metadata map[string]string `json:"metadata,omitempty"`

	// cpuCount is the number of the sandbox's CPUs. This project's node agent
	// does not publish it.
	// +optional
	CPUCount *int64 `json:"cpuCount,omitempty"`

	// memoryBytes is the size of the sandbox's memory. This project's node agent
	// does not publish it.
	// +optional
	MemoryBytes *int64 `json:"memoryBytes,omitempty"`

	// address is the name that the first builds published addr under. It is
	// deprecated: only objects that they left have it, and nobody writes it.
	// +optional
	Address string `json:"address,omitempty"`
}
