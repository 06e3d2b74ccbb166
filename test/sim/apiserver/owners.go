// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// SandboxAPIVersion is the apiVersion of Sandboxes.
const SandboxAPIVersion = "agents.x-k8s.io/v1beta1"

// CreateOwner creates a Sandbox unless one of that name exists. It returns the UID.
func (a *API) CreateOwner(key string) types.UID { return a.CreateOwnerOf(Sandbox, key) }

// CreateOwnerOf creates an owner of that kind unless one of that name exists. It returns
// the UID.
func (a *API) CreateOwnerOf(kind Kind, key string) types.UID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.state.owners[key]; ok {
		return o.GetUID()
	}
	namespace, name, _ := strings.Cut(key, "/")
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(kind.APIVersion)
	o.SetKind(kind.Name)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetUID(a.uid("owner"))
	o.SetGeneration(1)
	a.state.owners[key] = o
	return o.GetUID()
}

// DeleteOwner removes an owner. With foreground it only marks it for deletion.
func (a *API) DeleteOwner(key string, foreground bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.state.owners[key]
	if !ok {
		return
	}
	if !foreground {
		delete(a.state.owners, key)
		return
	}
	now := metav1.Now()
	o = o.DeepCopy()
	o.SetDeletionTimestamp(&now)
	a.state.owners[key] = o
}

// SetReady writes the Sandbox's Ready condition.
func (a *API) SetReady(key, status, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.state.owners[key]
	if !ok {
		return
	}
	o = o.DeepCopy()
	o.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Suspended", "status": "True", "reason": "Suspended", "observedGeneration": o.GetGeneration()},
		map[string]any{"type": "Ready", "status": status, "reason": reason, "observedGeneration": o.GetGeneration()},
	}}
	a.state.owners[key] = o
}

// CollectGarbage deletes the Pods whose owner does not exist or is being deleted.
func (a *API) CollectGarbage() {
	for key, p := range a.Pods() {
		ref := metav1.GetControllerOf(p)
		if ref == nil {
			continue
		}
		a.mu.Lock()
		o, ok := a.state.owners[p.Namespace+"/"+ref.Name]
		orphaned := !ok || o.GetUID() != ref.UID || o.GetDeletionTimestamp() != nil
		a.mu.Unlock()
		if orphaned {
			a.DeletePod(key)
		}
	}
}

// Releasable reports whether the documented verdicts authorize a release for the
// Sandbox or bare Pod with this UID. One that no longer exists authorizes it.
func (a *API) Releasable(authority types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.releasable(authority)
}

func (a *API) releasable(authority types.UID) bool {
	for _, p := range a.state.pods {
		if p.UID == authority {
			return p.DeletionTimestamp != nil
		}
	}
	for _, o := range a.state.owners {
		if o.GetUID() == authority {
			return ownerEnded(o)
		}
	}
	return true
}

func ownerEnded(o *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return o.GetDeletionTimestamp() != nil || slices.ContainsFunc(conditions, func(c any) bool {
		m := c.(map[string]any)
		return m["type"] == "Ready" && m["status"] == "False" && m["reason"] == "SandboxExpired"
	})
}

func controllerRef(o *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: new(true)}
}

// Owner returns a Sandbox's UID; empty if it does not exist.
func (a *API) Owner(key string) types.UID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.state.owners[key]; ok {
		return o.GetUID()
	}
	return ""
}
