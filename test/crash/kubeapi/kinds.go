// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is one kind of object that the server has.
type kind struct {
	schema.GroupVersionKind
	resource   string
	namespaced bool
	// fields is the Go type, which knows how lists are merged; nil when there
	// is none, and patches are refused.
	fields any
	// forgotten kinds are accepted and not kept.
	forgotten bool
}

// The kinds' resources.
const (
	Pods      = "pods"
	Sandboxes = "sandboxes"
	nodes     = "nodes"
	// Namespaces has kube-system alone, which identifies the cluster.
	Namespaces = "namespaces"
	// apiServices has that of the Sandboxes alone, which says that the API server
	// itself stores them.
	apiServices = "apiservices"
)

func kinds() []kind {
	return []kind{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), resource: Pods, namespaced: true, fields: corev1.Pod{}},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Node"), resource: nodes, fields: corev1.Node{}},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), resource: Namespaces},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Event"), resource: "events", namespaced: true, fields: corev1.Event{}, forgotten: true},
		{GroupVersionKind: coordinationv1.SchemeGroupVersion.WithKind("Lease"), resource: "leases", namespaced: true, fields: coordinationv1.Lease{}},
		{GroupVersionKind: schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, resource: apiServices},
		{GroupVersionKind: schema.GroupVersionKind{Group: "agents.x-k8s.io", Version: "v1beta1", Kind: "Sandbox"}, resource: Sandboxes, namespaced: true},
	}
}

func (k kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.resource}
}

// findKind returns the kind of a resource at a group and version.
func findKind(gv schema.GroupVersion, resource string) (kind, bool) {
	for _, k := range kinds() {
		if k.GroupVersion() == gv && k.resource == resource {
			return k, true
		}
	}
	return kind{}, false
}

// findResource returns the kind of a resource that the server has.
func findResource(resource string) kind {
	for _, k := range kinds() {
		if k.resource == resource {
			return k
		}
	}
	return kind{resource: resource}
}
