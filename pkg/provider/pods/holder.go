// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// Cached returns the cached Pod of that key and UID; nil if the cache has none.
func (m *Manager) Cached(key string, uid types.UID) *corev1.Pod {
	name := NameOf(key)
	pod, err := m.lister.Pods(name.Namespace).Get(name.Name)
	if err != nil || pod.UID != uid {
		return nil
	}
	return pod
}

// InCache reports whether the Pod cache has the Pod.
func (m *Manager) InCache(pod *corev1.Pod) bool {
	return m.Cached(podcontract.Key(pod), pod.UID) != nil
}

// CachedHolder returns the cached Pod that holds the claim; nil if the cache has none.
func (m *Manager) CachedHolder(c claims.Claim) *corev1.Pod { return m.Cached(c.Key, c.PodUID) }

// Holder returns the Pod as the table records it, with the controller of the Pod's newest
// object, even if the Pod is gone. virtual-kubelet's object can be older.
func (m *Manager) Holder(pod *corev1.Pod) claims.Holder {
	key := podcontract.Key(pod)
	if cached := m.Cached(key, pod.UID); cached != nil {
		return HolderOf(cached)
	}
	if gone := m.departure(pod); gone != nil {
		return HolderOf(gone.Final)
	}
	return HolderOf(pod)
}

// HasNoPod reports whether no Pod holds the claim, as far as this node knows. A deleted
// Pod whose claim is decided holds none, even while a finalizer keeps it.
func (m *Manager) HasNoPod(c claims.Claim) bool {
	if c.State == claims.Preserved {
		return true
	}
	if t, ok := m.Get(c.Key); ok && t.Pod.UID == c.PodUID {
		return t.End != nil && t.End.Deleted
	}
	return m.CachedHolder(c) == nil
}

// HolderTerminated reports whether the claim's Pod has ended, here or in the API.
func (m *Manager) HolderTerminated(c claims.Claim) bool {
	if t, ok := m.Get(c.Key); ok && t.Pod.UID == c.PodUID && t.End != nil {
		return true
	}
	pod := m.CachedHolder(c)
	return pod != nil && Terminal(pod)
}

// EndedWithSandbox reports whether the claim's sandbox is known to be gone and its Pod
// has ended because of that. Such a claim keeps its credential until the Pod is
// deleted, and waits for nothing else.
func (m *Manager) EndedWithSandbox(c claims.Claim) bool {
	if t, ok := m.Get(c.Key); ok && t.Pod.UID == c.PodUID && t.End != nil {
		return !t.End.Deleted
	}
	pod := m.CachedHolder(c)
	return pod != nil && Terminal(pod) && (pod.Status.Reason == podstatus.ReasonLeaseExpired || pod.Status.Reason == podstatus.ReasonLost)
}

// Terminated reports whether the given object, or a newer one in the cache, has a
// terminal phase. virtual-kubelet can retry a create with an object that is older than
// the failure it wrote.
func (m *Manager) Terminated(pod *corev1.Pod) bool {
	if Terminal(pod) {
		return true
	}
	newest := m.Cached(podcontract.Key(pod), pod.UID)
	return newest != nil && Terminal(newest)
}
