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
	l := k.use(key)
	l.token <- struct{}{}
	return func() {
		<-l.token
		k.release(key, l)
	}
}

// tryLock takes the key if nobody holds it.
func (k *keyLocks) tryLock(key string) (unlock func(), ok bool) {
	l := k.use(key)
	select {
	case l.token <- struct{}{}:
		return func() {
			<-l.token
			k.release(key, l)
		}, true
	default:
		k.release(key, l)
		return nil, false
	}
}

func (k *keyLocks) use(key string) *keyLock {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.locks == nil {
		k.locks = map[string]*keyLock{}
	}
	l := k.locks[key]
	if l == nil {
		l = &keyLock{token: make(chan struct{}, 1)}
		k.locks[key] = l
	}
	l.users++
	return l
}

func (k *keyLocks) release(key string, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
