// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Transfer makes a living Pod one of another Sandbox, or with an empty name a
// bare one, as adoption and --cascade=orphan do. It reports whether it did: no
// operator adopts for a Sandbox that is over.
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
		if !ok || ownerIsOver(o) {
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

// Controller returns the key of the Sandbox that controls a Pod; empty for a bare
// Pod, and when there is none.
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

// authorityOf is who decides over a Pod's sandbox: its controller, or itself.
func authorityOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return ref.UID
	}
	return pod.UID
}
