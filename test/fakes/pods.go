// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// Namespace is the namespace of the Pods of [NewPod].
const Namespace = "agents"

// NewPod returns a sandbox Pod without a published status; without an owner it is a bare
// Pod.
func NewPod(name string, uid, owner types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name, UID: uid, OwnerReferences: ControlledBy(owner),
			Annotations: map[string]string{podcontract.AnnotationTemplate: "rt"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "agent"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// ControlledBy returns the owner references of a Pod with that controller; none for an
// empty one.
func ControlledBy(owner types.UID) []metav1.OwnerReference {
	if owner == "" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "of-" + string(owner), UID: owner, Controller: new(true)}}
}

// PodCache returns the cache of a node's Pods and its lister.
func PodCache() (cache.Indexer, corev1listers.PodLister) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	return pods, corev1listers.NewPodLister(pods)
}
