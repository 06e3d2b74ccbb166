// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeInventory is what one node's sandboxd runs and can deliver. It has the node's name
// and is written whole by that node's agent; publishedAt shows its age.
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:scope=Cluster,shortName=ninv
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.address`,description="Where claims on this node are sent"
// +kubebuilder:printcolumn:name="Entries",type=integer,JSONPath=`.totalEntries`,description="Sandboxes the node holds"
// +kubebuilder:printcolumn:name="Warm",type=integer,JSONPath=`.totalWarm`,description="Warm microVMs, all pools together"
// +kubebuilder:printcolumn:name="Published",type=date,JSONPath=`.publishedAt`,description="Time since the node last published"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeInventory struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The name is the node's name, and the Node is
	// the object's owner.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// node is the node's name, which is the object's name too. Empty in objects
	// of the first builds.
	// +optional
	Node string `json:"node,omitempty"`

	// address is the host:port at which this node's sandboxd accepts claims from other
	// hosts.
	// +optional
	Address string `json:"address,omitempty"`

	// publishedAt is when the node wrote this object, by the node's own clock.
	// Everything else in the object was read shortly before.
	// +optional
	PublishedAt *metav1.Time `json:"publishedAt,omitempty"`

	// pools are the node's warm pools, ordered by template, net and size.
	// +optional
	// +listType=atomic
	Pools []NodePool `json:"pools,omitempty"`

	// totalWarm is the sum of warm over all pools.
	// +optional
	TotalWarm *int64 `json:"totalWarm,omitempty"`

	// entries are all sandboxes in sandboxd's index, including those of other clients,
	// and the claims of this node that the index does not list but that are not confirmed
	// gone; ordered by name and then id. If they are fewer than totalEntries, the rest
	// did not fit into the object, and a sandbox that is missing here may still exist.
	// +optional
	// +listType=atomic
	Entries []NodeEntry `json:"entries,omitempty"`

	// totalEntries is how many sandboxes the node holds, published here or
	// not.
	// +optional
	TotalEntries *int64 `json:"totalEntries,omitempty"`

	// templates are the images the node has. This project's node agent does not
	// publish any.
	// +optional
	// +listType=atomic
	Templates []NodeTemplate `json:"templates,omitempty"`
}

// NodeInventoryList is a list of NodeInventory objects.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type NodeInventoryList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the inventories.
	Items []NodeInventory `json:"items"`
}
