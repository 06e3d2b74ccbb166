// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// PodObserver is told of deletions as the watch shows them, ahead of the
// library's queues and also where the library says nothing: it ignores
// deletions that the watch did not see. The methods are called one at a time
// and must not block, or no change of a Pod reaches anyone. The Pods belong to
// the cache and must not be changed.
type PodObserver interface {
	// PodDeleting is called for each change of a Pod that is being deleted.
	PodDeleting(pod *corev1.Pod)
	// PodGone is called when a Pod is no longer there, with the last that was
	// known of it. seen tells whether the watch showed the deletion; otherwise a
	// list lacked the Pod, or had another of its name.
	PodGone(pod *corev1.Pod, seen bool)
}

// observePods has observer told of the watched Pods. It is called before the
// informer starts.
func observePods(pods *PodInformer, observer PodObserver) error {
	if observer == nil {
		return nil
	}
	look := func(object any) {
		if pod, ok := object.(*corev1.Pod); ok && pod.DeletionTimestamp != nil {
			observer.PodDeleting(pod)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: look,
		UpdateFunc: func(before, after any) {
			old, ok := before.(*corev1.Pod)
			if pod, is := after.(*corev1.Pod); ok && is && old.UID != pod.UID {
				observer.PodGone(old, false)
			}
			look(after)
		},
		DeleteFunc: func(object any) {
			unseen, ok := object.(cache.DeletedFinalStateUnknown)
			if ok {
				object = unseen.Obj
			}
			if pod, is := object.(*corev1.Pod); is {
				observer.PodGone(pod, !ok)
			}
		},
	}
	// A resync is no change.
	if _, err := pods.informer.Informer().AddEventHandlerWithResyncPeriod(handler, 0); err != nil {
		return fmt.Errorf("observe the node's pods: %w", err)
	}
	return nil
}
