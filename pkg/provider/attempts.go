// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// How long this provider waits between two attempts to serve a Pod that
// virtual-kubelet does not come back to by itself. The distances double: a Pod
// without capacity must not cost sandboxd more than virtual-kubelet's own back-off
// would. One that virtual-kubelet is retrying is left to it for libraryPatience.
const (
	attemptFirst    = 5 * time.Second
	attemptMost     = 2 * time.Minute
	libraryPatience = 2 * time.Minute
)

// attempts is when each Pod that is not served was last tried, by Pod key. The
// zero value is ready.
type attempts struct {
	mu   sync.Mutex
	last map[string]attempt
}

type attempt struct {
	uid  types.UID
	at   time.Time
	wait time.Duration
}

// due reports whether the Pod may be tried now.
func (a *attempts) due(key string, uid types.UID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, ok := a.last[key]
	return !ok || last.uid != uid || now.Sub(last.at) >= last.wait
}

// expect leaves a Pod that was not tried yet to virtual-kubelet for a while.
func (a *attempts) expect(key string, uid types.UID, now time.Time) {
	a.mu.Lock()
	last, ok := a.last[key]
	a.mu.Unlock()
	if !ok || last.uid != uid {
		a.set(key, attempt{uid: uid, at: now, wait: libraryPatience})
	}
}

// byLibrary records how an attempt of virtual-kubelet ended. After an error
// virtual-kubelet tries again.
func (a *attempts) byLibrary(key string, uid types.UID, err error, now time.Time) {
	if err == nil {
		a.forget(key)
		return
	}
	a.set(key, attempt{uid: uid, at: now, wait: libraryPatience})
}

// failed records an attempt of this provider's own that failed.
func (a *attempts) failed(key string, uid types.UID, now time.Time) {
	a.mu.Lock()
	last := a.last[key]
	a.mu.Unlock()
	wait := attemptFirst
	if last.uid == uid {
		wait = min(max(2*last.wait, attemptFirst), attemptMost)
	}
	a.set(key, attempt{uid: uid, at: now, wait: wait})
}

// awaiting records an attempt that waits for sandboxd's answer about a sandbox,
// which is asked for at a steady pace.
func (a *attempts) awaiting(key string, uid types.UID, now time.Time) {
	a.set(key, attempt{uid: uid, at: now, wait: attemptFirst})
}

func (a *attempts) set(key string, next attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.last = map[string]attempt{}
	}
	a.last[key] = next
}

func (a *attempts) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, key)
}

// shed forgets the Pods that are no longer wanted.
func (a *attempts) shed(wanted func(key string) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.last {
		if !wanted(key) {
			delete(a.last, key)
		}
	}
}
