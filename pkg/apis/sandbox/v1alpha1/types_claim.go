// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ClaimState is the stage of a claim's life.
//
// +kubebuilder:validation:Enum=Tentative;Quarantined;Releasing;Preserved;Bound
type ClaimState string

const (
	// ClaimTentative: sandboxd has delivered the sandbox, and the row is not on disk yet.
	ClaimTentative ClaimState = "Tentative"
	// ClaimQuarantined: loaded at the start of the agent, and sandboxd has not confirmed
	// the sandbox yet.
	ClaimQuarantined ClaimState = "Quarantined"
	// ClaimReleasing: removed from its Pod's name for good; sandboxd has not confirmed
	// yet that the sandbox is gone.
	ClaimReleasing ClaimState = "Releasing"
	// ClaimPreserved: its Pod is gone, its owner still exists.
	ClaimPreserved ClaimState = "Preserved"
	// ClaimBound: held by a live Pod.
	ClaimBound ClaimState = "Bound"
)

// ClaimCounts is the number of claims in each state.
type ClaimCounts struct {
	// bound claims are held by a live Pod.
	// +kubebuilder:validation:Minimum=0
	Bound int64 `json:"bound"`

	// leaseEnding claims are the bound ones whose lease ends soon.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LeaseEnding int64 `json:"leaseEnding"`

	// preserved claims wait for a Pod of their owner, or for the owner's end.
	// +kubebuilder:validation:Minimum=0
	Preserved int64 `json:"preserved"`

	// unadoptable claims are the preserved ones that no Pod can adopt.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unadoptable int64 `json:"unadoptable"`

	// quarantined claims wait for sandboxd's confirmation after a start.
	// +kubebuilder:validation:Minimum=0
	Quarantined int64 `json:"quarantined"`

	// releasing claims wait for sandboxd to confirm that they are gone.
	// +kubebuilder:validation:Minimum=0
	Releasing int64 `json:"releasing"`

	// tentative claims are not on disk yet.
	// +kubebuilder:validation:Minimum=0
	Tentative int64 `json:"tentative"`

	// attention is the number of claims in a state that should pass soon:
	// tentative, quarantined and releasing ones together.
	// +kubebuilder:validation:Minimum=0
	Attention int64 `json:"attention"`
}

// NodeClaim is one row of the claims table, without its release token.
type NodeClaim struct {
	// pod is the name of the Pod that the claim is kept under, <namespace>/<name>; for a
	// releasing claim, the Pod it was removed from; empty if an older build of the agent
	// removed it.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`

	// id is sandboxd's claim id.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`

	// state is the stage of the claim's life.
	State ClaimState `json:"state"`

	// podUID is the UID of the Pod that holds the claim, or held it last.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	PodUID types.UID `json:"podUID,omitempty"`

	// owner is the controller owner that decides about the claim once its Pod is gone. A
	// bare Pod has none; its own deletion decides.
	// +optional
	Owner *ClaimOwner `json:"owner,omitempty"`

	// address is the host:port that serves the sandbox.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address,omitempty"`

	// claimedAt is when the sandbox was claimed.
	// +optional
	ClaimedAt *metav1.Time `json:"claimedAt,omitempty"`

	// deadline is the end of the lease as last reported by sandboxd. It can become
	// earlier or later.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// leaseEnding is true if a live Pod holds the claim and the deadline is near: the Pod
	// has, or is about to get, an event that warns of it.
	// +optional
	LeaseEnding bool `json:"leaseEnding,omitempty"`

	// waitingFor is what the claim is waiting for; empty if it waits for nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	WaitingFor string `json:"waitingFor,omitempty"`

	// unadoptable is true if the Pod is gone, and its name was random: no later Pod of
	// its owner will have the name that it would need to adopt the claim.
	// +optional
	Unadoptable bool `json:"unadoptable,omitempty"`
}

// ClaimOwner identifies a Pod's controller owner, in the Pod's namespace.
type ClaimOwner struct {
	// apiVersion is the owner's group and version.
	// +kubebuilder:validation:MaxLength=512
	APIVersion string `json:"apiVersion"`

	// kind is the owner's kind.
	// +kubebuilder:validation:MaxLength=256
	Kind string `json:"kind"`

	// name is the owner's name.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`

	// uid is the owner's UID.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
}
