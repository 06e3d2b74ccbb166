// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keymutex is a mutex for each of many keys.
package keymutex

import "sync"

// KeyMutex is one mutex per key. An entry exists only while a caller holds or awaits
// its key. The zero value is ready.
type KeyMutex struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

// keyLock is held by the caller whose token is in the channel. It is a channel because
// holders wait for sandboxd and the API server, and virtual time in tests does not pass
// while a goroutine waits for a sync.Mutex.
type keyLock struct {
	token chan struct{}
	users int
}

// Lock waits for the key and returns the function that unlocks it.
func (k *KeyMutex) Lock(key string) (unlock func()) {
	l := k.use(key)
	l.token <- struct{}{}
	return func() {
		<-l.token
		k.release(key, l)
	}
}

// TryLock locks the key if nobody holds it. It never blocks.
func (k *KeyMutex) TryLock(key string) (unlock func(), ok bool) {
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

// Used reports whether a caller holds or awaits the key.
func (k *KeyMutex) Used(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.locks[key] != nil
}

func (k *KeyMutex) use(key string) *keyLock {
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

func (k *KeyMutex) release(key string, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
