// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// How long this provider waits between two attempts for a Pod that virtual-kubelet does
// not retry by itself. The intervals double: a Pod without capacity must not cost sandboxd
// more than with virtual-kubelet's own back-off. A Pod that virtual-kubelet is retrying is
// left to it for libraryPatience.
const (
	attemptFirst    = 5 * time.Second
	attemptMost     = 2 * time.Minute
	libraryPatience = 2 * time.Minute
)

// attempts is when each Pod without a claim was last tried, by Pod key. The zero value is
// ready.
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

// expect leaves a Pod that was not tried yet to virtual-kubelet for libraryPatience.
func (a *attempts) expect(key string, uid types.UID, now time.Time) {
	a.mu.Lock()
	last, ok := a.last[key]
	a.mu.Unlock()
	if !ok || last.uid != uid {
		a.set(key, attempt{uid: uid, at: now, wait: libraryPatience})
	}
}

// byLibrary records the result of an attempt by virtual-kubelet, which tries again after an
// error.
func (a *attempts) byLibrary(key string, uid types.UID, err error, now time.Time) {
	if err == nil {
		a.forget(key)
		return
	}
	a.set(key, attempt{uid: uid, at: now, wait: libraryPatience})
}

// failed records a failed attempt by this provider.
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

// awaiting records an attempt that waits for sandboxd's answer about a sandbox. The question
// is asked at a constant interval.
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

// prune forgets the Pods that are not wanted any more.
func (a *attempts) prune(wanted func(key string) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.last {
		if !wanted(key) {
			delete(a.last, key)
		}
	}
}
