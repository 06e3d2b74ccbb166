// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is a kind of owners.
type Kind struct{ APIVersion, Name, Resource string }

// The kinds of owners. No two owners of one namespace have the same name.
var (
	Sandbox     = Kind{SandboxAPIVersion, "Sandbox", "sandboxes"}
	ReplicaSet  = Kind{"apps/v1", "ReplicaSet", "replicasets"}
	StatefulSet = Kind{"apps/v1", "StatefulSet", "statefulsets"}
)

// kindOf returns the kind of a resource; ok is false if its objects own no Pods.
func kindOf(resource string) (k Kind, ok bool) {
	for _, k := range []Kind{Sandbox, ReplicaSet, StatefulSet} {
		if k.Resource == resource {
			return k, true
		}
	}
	return Kind{}, false
}

// CreateReplica creates a Pod of the ReplicaSet, under a name that no Pod had, unless the
// ReplicaSet has ended.
func (a *API) CreateReplica(owner, ttl string) {
	const letters = "bcdfghjklmnpqrstvwxz"
	a.mu.Lock()
	n := len(a.made)
	suffix := ""
	for range 5 {
		suffix, n = suffix+string(letters[n%len(letters)]), n/len(letters)
	}
	key := owner + "-" + suffix
	a.made = append(a.made, key)
	a.mu.Unlock()
	p := NewPod(key, ttl)
	p.GenerateName = strings.TrimSuffix(p.Name, suffix)
	a.CreatePodOf(owner, p)
}

// MadeReplicas returns the keys of all Pods that were made for the ReplicaSet.
func (a *API) MadeReplicas(owner string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.made), func(key string) bool { return !strings.HasPrefix(key, owner+"-") })
}

// Replicas returns the keys of the Pods that the owner controls.
func (a *API) Replicas(owner string) (keys []string) {
	uid := a.Owner(owner)
	for key, p := range a.Pods() {
		if ref := metav1.GetControllerOf(p); ref != nil && ref.UID == uid {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// RandomName reports whether no other Pod of the controller that the Pod has now will
// have its name.
func RandomName(generateName string, controller *metav1.OwnerReference) bool {
	return generateName != "" && controller != nil && controller.APIVersion == ReplicaSet.APIVersion && controller.Kind == ReplicaSet.Name
}
