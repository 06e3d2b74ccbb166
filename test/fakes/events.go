// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakes

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Events is a recorder that keeps the reasons of the events, by kind and name of the
// object.
type Events struct {
	mu sync.Mutex
	of map[string][]string
}

// Event records the event's reason.
func (e *Events) Event(object runtime.Object, _, reason, _ string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of = map[string][]string{}
	}
	ref := object.(*corev1.ObjectReference)
	e.of[ref.Kind+"/"+ref.Name] = append(e.of[ref.Kind+"/"+ref.Name], reason)
}

// Of returns the reasons recorded on an object, <kind>/<name>, in order.
func (e *Events) Of(object string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.of[object])
}

// Count returns how often the reason was recorded on the Pod named a; an empty reason
// matches all.
func (e *Events) Count(reason string) int {
	of := e.Of("Pod/a")
	if reason == "" {
		return len(of)
	}
	return len(of) - len(slices.DeleteFunc(slices.Clone(of), func(r string) bool { return r == reason }))
}
