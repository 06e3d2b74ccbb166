// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// Observer receives what the watch shows and the library ignores or delays: deletions, and
// changes of the controller, the spec and the readiness gates. The methods are called one at a time and must not block,
// because they would block every other change too. The Pods belong to the cache and must
// not be modified.
type Observer interface {
	// PodChanged is called for each change of a Pod that is being deleted, and for each
	// change of a Pod's controller, spec or readiness gates.
	PodChanged(pod *corev1.Pod)
	// PodGone is called with the last known object of a Pod that no longer exists. seen
	// is true if the watch showed the deletion, and false if a list lacked the Pod or had
	// another of its name.
	PodGone(pod *corev1.Pod, seen bool)
}

// Observe registers observer for the watched Pods. Call it before Start.
func (p *Informer) Observe(observer Observer) error {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok && pod.DeletionTimestamp != nil {
				observer.PodChanged(pod)
			}
		},
		UpdateFunc: func(before, after any) {
			old, ok := before.(*corev1.Pod)
			pod, is := after.(*corev1.Pod)
			if !ok || !is {
				return
			}
			if old.UID != pod.UID {
				observer.PodGone(old, false)
			}
			if pod.DeletionTimestamp != nil || controllerUID(old) != controllerUID(pod) || old.Generation != pod.Generation ||
				podstatus.UnreadyGates(old) != podstatus.UnreadyGates(pod) {
				observer.PodChanged(pod)
			}
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
	// Resyncs are disabled, because they are no changes.
	if _, err := p.informer.Informer().AddEventHandlerWithResyncPeriod(handler, 0); err != nil {
		return fmt.Errorf("observe the node's pods: %w", err)
	}
	return nil
}

// controllerUID identifies the Pod's controller; empty for a Pod without one.
func controllerUID(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID
	}
	return ""
}
