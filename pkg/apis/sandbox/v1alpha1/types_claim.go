// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ClaimState is where a claim stands in its life.
//
// +kubebuilder:validation:Enum=Tentative;Quarantined;Releasing;Preserved;Bound
type ClaimState string

const (
	// ClaimTentative: sandboxd has delivered, and the row is not on disk yet.
	ClaimTentative ClaimState = "Tentative"
	// ClaimQuarantined: loaded at the start of the agent, and sandboxd has not
	// said yet whether it still has the sandbox.
	ClaimQuarantined ClaimState = "Quarantined"
	// ClaimReleasing: taken away from its Pod's name for good; sandboxd has not
	// confirmed yet that the sandbox is gone.
	ClaimReleasing ClaimState = "Releasing"
	// ClaimPreserved: its Pod is gone, its owner is not.
	ClaimPreserved ClaimState = "Preserved"
	// ClaimBound: held by a live Pod.
	ClaimBound ClaimState = "Bound"
)

// ClaimCounts is the number of claims in each state.
type ClaimCounts struct {
	// bound claims are held by a live Pod.
	// +kubebuilder:validation:Minimum=0
	Bound int64 `json:"bound"`

	// preserved claims wait for a Pod of their owner, or for the owner's end.
	// +kubebuilder:validation:Minimum=0
	Preserved int64 `json:"preserved"`

	// quarantined claims wait for sandboxd's word after a start.
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
	// pod is the name of the Pod that the claim is kept under,
	// <namespace>/<name>; of a releasing claim, the one it was taken from, which
	// is empty where an older build of the agent has taken it.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`

	// id is sandboxd's claim id.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`

	// state is where the claim stands in its life.
	State ClaimState `json:"state"`

	// podUID is the UID of the Pod that holds the claim, or held it last.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	PodUID types.UID `json:"podUID,omitempty"`

	// owner is the controller owner that decides over the claim when its Pod is
	// gone. A bare Pod has none, and decides by its own end.
	// +optional
	Owner *ClaimOwner `json:"owner,omitempty"`

	// address is the host:port that serves the sandbox.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address,omitempty"`

	// claimedAt is when the sandbox was claimed.
	// +optional
	ClaimedAt *metav1.Time `json:"claimedAt,omitempty"`

	// deadline is the end of the lease as the node last heard it from sandboxd.
	// It can move both ways.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// waitingFor says what has to happen for the claim to go on. Empty when
	// there is nothing to wait for.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	WaitingFor string `json:"waitingFor,omitempty"`
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
