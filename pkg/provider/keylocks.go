// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import "sync"

// keyLocks is one lock per Pod key, made on demand and dropped when nobody
// holds or awaits it. The zero value is ready.
type keyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

// keyLock is held by whoever put a token in. A channel rather than a mutex: a
// holder waits for sandboxd and the API server, and virtual time in tests does
// not pass while a goroutine waits for a mutex.
type keyLock struct {
	token chan struct{}
	users int
}

// lock waits for the key and returns the function that lets go of it.
func (k *keyLocks) lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.locks == nil {
		k.locks = map[string]*keyLock{}
	}
	l := k.locks[key]
	if l == nil {
		l = &keyLock{token: make(chan struct{}, 1)}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()

	l.token <- struct{}{}
	return func() {
		<-l.token
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.locks, key)
		}
	}
}
