// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
)

// copyingLister returns shallow copies of Pods. With SkipDownwardAPIResolution the
// library passes on the lister's Pod itself, and on a provider error writes phase, reason
// and an empty resource version into it. In the cache's own object that would be a data
// race and would falsify the next comparison with the cache. The library writes no
// deeper, and keeps the Pod while it exists.
type copyingLister struct{ inner corev1listers.PodLister }

func (l copyingLister) List(s labels.Selector) ([]*corev1.Pod, error) {
	return copyPods(l.inner.List(s))
}

func (l copyingLister) Pods(namespace string) corev1listers.PodNamespaceLister {
	return copyingNamespaceLister{l.inner.Pods(namespace)}
}

type copyingNamespaceLister struct {
	inner corev1listers.PodNamespaceLister
}

func (l copyingNamespaceLister) List(s labels.Selector) ([]*corev1.Pod, error) {
	return copyPods(l.inner.List(s))
}

func (l copyingNamespaceLister) Get(name string) (*corev1.Pod, error) {
	pod, err := l.inner.Get(name)
	if err != nil {
		return nil, err
	}
	return copyPod(pod), nil
}

func copyPods(pods []*corev1.Pod, err error) ([]*corev1.Pod, error) {
	copies := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		copies[i] = copyPod(pod)
	}
	return copies, err
}

func copyPod(pod *corev1.Pod) *corev1.Pod {
	c := *pod
	return &c
}
