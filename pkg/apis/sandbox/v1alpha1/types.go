// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeClaimStatus is the state of one node's claims table. It has the node's name, is
// owned by its Node, and is written by that node's agent only when something in it has
// changed.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:scope=Cluster,shortName=ncs,categories=vk-sandbox
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the node can serve claims: all other conditions are True"
// +kubebuilder:printcolumn:name="Bound",type=integer,JSONPath=`.status.counts.bound`,description="Claims held by a live Pod"
// +kubebuilder:printcolumn:name="Preserved",type=integer,JSONPath=`.status.counts.preserved`,description="Claims whose Pod is gone and whose owner is not"
// +kubebuilder:printcolumn:name="Attention",type=integer,JSONPath=`.status.counts.attention`,description="Claims in a state that should pass soon"
// +kubebuilder:printcolumn:name="Sandboxd",type=string,JSONPath=`.status.conditions[?(@.type=="SandboxdReachable")].reason`,description="Whether the node's sandboxd answers"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeClaimStatus struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The name is the node's name, and the Node is
	// the object's owner.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is what the node last published.
	// +optional
	Status NodeClaimStatusStatus `json:"status,omitempty"`
}

// NodeClaimStatusStatus is the state of a claims table.
type NodeClaimStatusStatus struct {
	// conditions show whether the node can serve claims. Ready is True when
	// ClaimsTableDurable, ClaimsVerified and SandboxdReachable are.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// counts has the number of claims in each state, of all claims.
	// +optional
	Counts *ClaimCounts `json:"counts,omitempty"`

	// claims are the claims of the node: those in a state that should pass soon first,
	// then the preserved ones, then the bound ones, each ordered by Pod and id. If there
	// are more than fit into an object, truncatedCount is the number left out at the end.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	Claims []NodeClaim `json:"claims,omitempty"`

	// truncatedCount is how many claims are not in the list of claims.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TruncatedCount *int64 `json:"truncatedCount,omitempty"`

	// lastWrittenTime is when a change of the table last became durable on the
	// host's disk.
	// +optional
	LastWrittenTime *metav1.Time `json:"lastWrittenTime,omitempty"`

	// lastVerifiedTime is when the table was last compared with sandboxd's whole index,
	// as of lastPublishedTime. A new time alone is not published.
	// +optional
	LastVerifiedTime *metav1.Time `json:"lastVerifiedTime,omitempty"`

	// lastPublishedTime is when the node wrote this status, by its own clock. It does so
	// only when something has changed, so an old time says nothing about the node. The
	// Node object shows whether the node is alive.
	// +optional
	LastPublishedTime *metav1.Time `json:"lastPublishedTime,omitempty"`
}

// NodeClaimStatusList is a list of NodeClaimStatus objects.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeClaimStatusList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the claim statuses.
	Items []NodeClaimStatus `json:"items"`
}

// The conditions of a NodeClaimStatus. The Node has ConditionClaimsTableDurable and
// ConditionSandboxdReachable too.
const (
	// ConditionReady: the node can serve claims; the other three are True.
	ConditionReady = "Ready"
	// ConditionClaimsTableDurable: the claims file has every change of the table.
	ConditionClaimsTableDurable = "ClaimsTableDurable"
	// ConditionClaimsVerified: sandboxd has confirmed each claim since the daemon
	// started.
	ConditionClaimsVerified = "ClaimsVerified"
	// ConditionSandboxdReachable: sandboxd answers and accepts the node's
	// credential.
	ConditionSandboxdReachable = "SandboxdReachable"
)

// ConditionClaimsTableAccepted is a condition of the Node: the claims table belongs to
// this cluster and host. While it is not True nothing is published.
const ConditionClaimsTableAccepted = "ClaimsTableAccepted"
