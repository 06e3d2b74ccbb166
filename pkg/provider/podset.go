// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// tracked is a Pod that this provider serves, or will once the node has answered
// for its claim.
type tracked struct {
	// pod is shared with the cache or with virtual-kubelet, and not changed.
	pod *corev1.Pod
	// gone is set once the Pod has left the API.
	gone *departure
	// removed is true once the removal of the deleted Pod was asked for.
	removed bool
	// end is set once the Pod has ended; its status stays terminal from then on.
	end *ending
	// told is true once virtual-kubelet has been handed a status of the Pod.
	told bool
	// waiting says why the Pod has no claim yet, where virtual-kubelet does
	// not know; empty while the node has not said anything about its claim.
	waiting string
}

// departure is how a Pod left the API.
type departure struct {
	// final is the newest object of the Pod that was seen.
	final *corev1.Pod
	// seen is true when its deletion was: a list that lacks the Pod is no deletion.
	seen bool
}

// ending is how a Pod ended.
type ending struct {
	binding podcontract.Binding
	reason  string
	message string
	at      time.Time
	// deleted is true when the Pod was deleted and its claim is decided, and false
	// when its sandbox is gone.
	deleted bool
}

// ended reports whether the Pod, whose newest object is given, has ended. A deleted
// Pod that is not being deleted any more, as after the restore of a backup, has not.
func (t tracked) ended(newest *corev1.Pod) bool {
	return t.end != nil && (!t.end.deleted || newest.DeletionTimestamp != nil)
}

// podSet is the Pods being served, by key. The zero value is ready.
type podSet struct {
	mu   sync.RWMutex
	pods map[string]tracked
}

func (s *podSet) get(key string) (tracked, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.pods[key]
	return t, ok
}

// track remembers the newest object of a Pod, and drops how an older Pod of
// that name ended.
func (s *podSet) track(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods == nil {
		s.pods = map[string]tracked{}
	}
	t := s.pods[podcontract.Key(pod)]
	if t.pod == nil || t.pod.UID != pod.UID {
		t = tracked{}
	}
	if !t.ended(pod) {
		t.end = nil
	}
	t.removed = t.removed && pod.DeletionTimestamp != nil
	// A departure stays known: a claim can arrive for a Pod that has gone meanwhile.
	t.pod, t.waiting = pod, ""
	s.pods[podcontract.Key(pod)] = t
}

// share makes the cache's object of a Pod the one that is remembered, in place of
// an older one of the same Pod, so that it is in memory once.
func (s *podSet) share(cached *corev1.Pod) {
	s.update(podcontract.Key(cached), func(t *tracked) {
		if t.pod.UID == cached.UID {
			t.pod, t.gone = cached, nil
		}
	})
}

// trackUnknown remembers a Pod unless one of its name is tracked.
func (s *podSet) trackUnknown(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods == nil {
		s.pods = map[string]tracked{}
	}
	if _, known := s.pods[podcontract.Key(pod)]; !known {
		s.pods[podcontract.Key(pod)] = tracked{pod: pod}
	}
}

// depart records that a Pod has left the API. Only a Pod that is tracked can.
func (s *podSet) depart(pod *corev1.Pod, seen bool) {
	s.update(podcontract.Key(pod), func(t *tracked) {
		if t.pod.UID == pod.UID {
			t.gone = &departure{final: pod, seen: seen || pod.DeletionTimestamp != nil || t.pod.DeletionTimestamp != nil}
		}
	})
}

func (s *podSet) remove(key string) {
	s.update(key, func(t *tracked) { t.removed = true })
}

func (s *podSet) end(key string, e ending) {
	s.update(key, func(t *tracked) { t.end = &e })
}

func (s *podSet) tell(key string) {
	s.update(key, func(t *tracked) { t.told = true })
}

func (s *podSet) wait(key, message string) {
	s.update(key, func(t *tracked) { t.waiting = message })
}

func (s *podSet) update(key string, apply func(*tracked)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.pods[key]; ok {
		apply(&t)
		s.pods[key] = t
	}
}

func (s *podSet) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, key)
}

func (s *podSet) all() []tracked {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]tracked, 0, len(s.pods))
	for _, t := range s.pods {
		out = append(out, t)
	}
	return out
}
