// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeTemplate is one image that the node can start microVMs from.
type NodeTemplate struct {
	// template is the image's name, as pools have it.
	// +optional
	Template string `json:"template,omitempty"`

	// net is the network lane.
	// +optional
	Net string `json:"net,omitempty"`

	// size is the VM size.
	// +optional
	Size string `json:"size,omitempty"`

	// contentDigest identifies the image's content.
	// +optional
	ContentDigest string `json:"contentDigest,omitempty"`

	// createdAt is when the node made the image.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
}
