// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
)

// newestLister gets the newest known version of a Pod. The watch can lag behind a status
// that this daemon wrote, such as a failed create, after which the Pod must not be
// served. Its lists are those of the watch.
type newestLister struct {
	corev1listers.PodLister

	published *publishedPods
}

// Pods implements the lister of a namespace.
func (l newestLister) Pods(namespace string) corev1listers.PodNamespaceLister {
	return newestNamespaceLister{l.PodLister.Pods(namespace), namespace, l.published}
}

type newestNamespaceLister struct {
	corev1listers.PodNamespaceLister

	namespace string
	published *publishedPods
}

// Get implements the lister of a namespace.
func (l newestNamespaceLister) Get(name string) (*corev1.Pod, error) {
	pod, err := l.published.get(types.NamespacedName{Namespace: l.namespace, Name: name})
	if err == nil && pod == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return pod, err
}
