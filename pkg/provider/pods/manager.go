// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pods keeps the Pods that this node serves, and answers which Pod holds a claim.
//
// Every decision about a Pod key holds the lock of that key ([Manager.Lock]), because
// virtual-kubelet's queues do not exclude each other. Reads take no key lock and are
// answered from memory.
package pods

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/keymutex"
)

// Manager keeps the Pods that this node serves, by Pod key. It is safe for concurrent
// use.
type Manager struct {
	lister corev1listers.PodLister
	keys   keymutex.KeyMutex

	mu   sync.RWMutex
	pods map[string]Tracked
	// departures are those of Pods that are not tracked, by key and UID, until nobody uses
	// the key. One of them may get a claim that was requested before it left.
	departures map[string]map[types.UID]*Departure
}

// NewManager returns a Manager without Pods. lister is the cache of the Pods bound to
// this node; its objects are not modified.
func NewManager(lister corev1listers.PodLister) *Manager {
	return &Manager{lister: lister, pods: map[string]Tracked{}, departures: map[string]map[types.UID]*Departure{}}
}

// Lock waits for the lock of a Pod key and returns the function that unlocks it.
func (m *Manager) Lock(key string) (unlock func()) { return m.unlocking(key, m.keys.Lock(key)) }

// TryLock locks a Pod key if nobody holds its lock.
func (m *Manager) TryLock(key string) (unlock func(), ok bool) {
	unlock, ok = m.keys.TryLock(key)
	return m.unlocking(key, unlock), ok
}

// unlocking adds to unlock that the departures under a key that nobody uses are dropped.
func (m *Manager) unlocking(key string, unlock func()) func() {
	return func() {
		unlock()
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.keys.Used(key) {
			delete(m.departures, key)
		}
	}
}

// Get returns the Pod tracked under a key.
func (m *Manager) Get(key string) (Tracked, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t, ok := m.pods[key]
	return t, ok
}

// All returns every tracked Pod.
func (m *Manager) All() []Tracked {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]Tracked, 0, len(m.pods))
	for _, t := range m.pods {
		out = append(out, t)
	}
	return out
}

// Track records the newest object of a Pod, and drops the end of an older Pod of that
// name.
func (m *Manager) Track(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.pods[podcontract.Key(pod)]
	if t.Pod == nil || t.Pod.UID != pod.UID {
		t = Tracked{Gone: m.departures[podcontract.Key(pod)][pod.UID]}
	}
	if !t.Ended(pod) {
		t.End = nil
	}
	t.RemovalRequested = t.RemovalRequested && pod.DeletionTimestamp != nil
	// A departure stays recorded: a claim can arrive for a Pod that is gone by then.
	t.Pod, t.Waiting = pod, ""
	m.pods[podcontract.Key(pod)] = t
}

// TrackUnknown records a Pod unless one of its name is tracked.
func (m *Manager) TrackUnknown(pod *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.pods[podcontract.Key(pod)]; !known {
		m.pods[podcontract.Key(pod)] = Tracked{Pod: pod}
	}
}

// Share replaces the tracked object of a Pod by the cache's object of the same Pod, so
// that memory holds it once.
func (m *Manager) Share(cached *corev1.Pod) {
	m.update(podcontract.Key(cached), func(t *Tracked) {
		if t.Pod.UID == cached.UID {
			t.Pod, t.Gone = cached, nil
		}
	})
}

// Departed records that a Pod has left the API. seen is false if no event showed the
// deletion and a new list lacks the Pod.
func (m *Manager) Departed(pod *corev1.Pod, seen bool) {
	key := podcontract.Key(pod)
	gone := &Departure{Final: pod, Seen: seen || pod.DeletionTimestamp != nil}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.pods[key]; ok && t.Pod.UID == pod.UID {
		gone.Seen = gone.Seen || t.Pod.DeletionTimestamp != nil
		t.Gone = gone
		m.pods[key] = t
		return
	}
	if m.departures[key] == nil {
		m.departures[key] = map[types.UID]*Departure{}
	}
	m.departures[key][pod.UID] = gone
}

// departure returns how the Pod left the API; nil if it is not known to have left.
func (m *Manager) departure(pod *corev1.Pod) *Departure {
	m.mu.RLock()
	defer m.mu.RUnlock()
	key := podcontract.Key(pod)
	if t, ok := m.pods[key]; ok && t.Pod.UID == pod.UID {
		return t.Gone
	}
	return m.departures[key][pod.UID]
}

// MarkRemovalRequested records that the removal of the deleted Pod was requested.
func (m *Manager) MarkRemovalRequested(key string) {
	m.update(key, func(t *Tracked) { t.RemovalRequested = true })
}

// MarkEnded records how the Pod ended.
func (m *Manager) MarkEnded(key string, e Ending) {
	m.update(key, func(t *Tracked) { t.End = &e })
}

// MarkNotified records that virtual-kubelet has received a status of the Pod.
func (m *Manager) MarkNotified(key string) {
	m.update(key, func(t *Tracked) { t.Notified = true })
}

// MarkWaiting records why the Pod has no claim yet.
func (m *Manager) MarkWaiting(key, why string) {
	m.update(key, func(t *Tracked) { t.Waiting = why })
}

// Drop forgets the Pod under a key.
func (m *Manager) Drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pods, key)
}

func (m *Manager) update(key string, apply func(*Tracked)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.pods[key]; ok {
		apply(&t)
		m.pods[key] = t
	}
}
