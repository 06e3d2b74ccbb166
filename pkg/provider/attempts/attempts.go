// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package attempts remembers when each Pod without a claim was last tried, and decides when
// it is tried again. It tries nothing itself.
package attempts

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// First and Longest are the intervals between two attempts for a Pod that
	// virtual-kubelet does not retry. The interval doubles from First to Longest, so that
	// a Pod without capacity costs sandboxd no more than with virtual-kubelet's own
	// back-off.
	First   = 5 * time.Second
	Longest = 2 * time.Minute
	// LibraryPatience is how long a Pod that virtual-kubelet retries is left to
	// virtual-kubelet.
	LibraryPatience = 2 * time.Minute
)

// Tracker has the last attempt of each Pod, by Pod key. It is safe for concurrent use. The
// zero value is ready.
type Tracker struct {
	mu   sync.Mutex
	last map[string]attempt
}

type attempt struct {
	uid  types.UID
	at   time.Time
	wait time.Duration
}

// Due reports whether the Pod may be tried now.
func (t *Tracker) Due(key string, uid types.UID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.last[key]
	return !ok || last.uid != uid || now.Sub(last.at) >= last.wait
}

// LeaveToLibrary leaves a Pod without an attempt so far to virtual-kubelet for
// LibraryPatience.
func (t *Tracker) LeaveToLibrary(key string, uid types.UID, now time.Time) {
	t.mu.Lock()
	last, ok := t.last[key]
	t.mu.Unlock()
	if !ok || last.uid != uid {
		t.set(key, attempt{uid: uid, at: now, wait: LibraryPatience})
	}
}

// ByLibrary records the result of an attempt by virtual-kubelet, which retries after an
// error.
func (t *Tracker) ByLibrary(key string, uid types.UID, err error, now time.Time) {
	if err == nil {
		t.Forget(key)
		return
	}
	t.set(key, attempt{uid: uid, at: now, wait: LibraryPatience})
}

// Failed records a failed attempt by this provider.
func (t *Tracker) Failed(key string, uid types.UID, now time.Time) {
	t.mu.Lock()
	last := t.last[key]
	t.mu.Unlock()
	wait := First
	if last.uid == uid {
		wait = min(max(2*last.wait, First), Longest)
	}
	t.set(key, attempt{uid: uid, at: now, wait: wait})
}

// Awaiting records an attempt that waits for sandboxd's answer about a sandbox. It is
// repeated at a constant interval.
func (t *Tracker) Awaiting(key string, uid types.UID, now time.Time) {
	t.set(key, attempt{uid: uid, at: now, wait: First})
}

func (t *Tracker) set(key string, next attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]attempt{}
	}
	t.last[key] = next
}

// Forget drops a Pod that has its claim.
func (t *Tracker) Forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, key)
}

// Prune forgets the Pods that are no longer wanted.
func (t *Tracker) Prune(wanted func(key string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.last {
		if !wanted(key) {
			delete(t.last, key)
		}
	}
}
