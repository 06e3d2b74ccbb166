// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// fakeOwners knows the state of each owner, and of each bare Pod, by UID. One that
// it does not know is gone.
type fakeOwners struct {
	mu     sync.Mutex
	states map[types.UID]ownership.Cause
	reads  []types.UID
}

func (o *fakeOwners) set(cause ownership.Cause, uids ...types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.states == nil {
		o.states = map[types.UID]ownership.Cause{}
	}
	for _, uid := range uids {
		o.states[uid] = cause
	}
}

func (o *fakeOwners) read(uid types.UID) ownership.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reads = append(o.reads, uid)
	cause, known := o.states[uid]
	if !known {
		cause = ownership.Gone
	}
	d := ownership.Decision{Release: cause.Releases(), Cause: cause, Reason: "the owner is " + string(cause)}
	if cause == ownership.Unreadable {
		d.Err = errors.New("no answer")
	}
	return d
}

func (o *fakeOwners) Owner(_ context.Context, _ string, owner claims.Owner) ownership.Decision {
	return o.read(owner.UID)
}

func (o *fakeOwners) Pod(_ context.Context, _, _ string, uid types.UID) ownership.Decision {
	return o.read(uid)
}

// events is what was recorded: the reasons, by the name of the object.
type events struct {
	mu sync.Mutex
	of map[string][]string
}

func (e *events) Event(object runtime.Object, _, reason, _ string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of = map[string][]string{}
	}
	ref := object.(*corev1.ObjectReference)
	e.of[ref.Kind+"/"+ref.Name] = append(e.of[ref.Kind+"/"+ref.Name], reason)
}

// count is how often the reason was recorded on the Pod called a; any reason if it
// is empty.
func (e *events) count(reason string) (count int) {
	const pod = "a"
	e.mu.Lock()
	defer e.mu.Unlock()
	if reason == "" {
		return len(e.of["Pod/"+pod])
	}
	return len(e.of["Pod/"+pod]) - len(slices.DeleteFunc(slices.Clone(e.of["Pod/"+pod]), func(r string) bool { return r == reason }))
}
