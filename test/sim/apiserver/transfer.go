// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Transfer changes the controller of a living Pod to another Sandbox, as adoption
// does. An empty name makes it a bare Pod, as --cascade=orphan does. It reports
// whether it changed the Pod: a Sandbox that has ended adopts none.
func (a *API) Transfer(key, to string, relabel bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.state.pods[key]
	if !ok || p.DeletionTimestamp != nil {
		return false
	}
	var refs []metav1.OwnerReference
	if to != "" {
		o, ok := a.state.owners[to]
		if !ok || ownerEnded(o) {
			return false
		}
		refs = []metav1.OwnerReference{controllerRef(o)}
	}
	a.change(key, func(p *corev1.Pod) {
		p.OwnerReferences = refs
		if relabel {
			p.Labels = map[string]string{"sandbox": fmt.Sprint(a.state.version)}
		}
	})
	return true
}

// Controller returns the key of the Sandbox that controls a Pod; empty for a bare or
// missing Pod.
func (a *API) Controller(key string) string {
	p := a.Pod(key)
	if p == nil {
		return ""
	}
	if ref := metav1.GetControllerOf(p); ref != nil {
		return p.Namespace + "/" + ref.Name
	}
	return ""
}

// AuthorityOf returns the authority over a Pod's sandbox: its controller, or a bare
// Pod itself.
func AuthorityOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return ref.UID
	}
	return pod.UID
}
