// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package goroutinemap runs named functions concurrently, at most one per name.
package goroutinemap

import "sync"

// Map runs at most limit functions at once. A hanging function delays no other name while
// the limit is not reached.
type Map struct {
	limit int

	mu      sync.Mutex
	running map[string]bool
	group   sync.WaitGroup
}

// New returns a Map that runs at most limit functions at once.
func New(limit int) *Map { return &Map{limit: limit, running: map[string]bool{}} }

// Start runs the function unless a function of that name, or limit other functions, are
// running. It never blocks, and reports whether the function was started.
func (m *Map) Start(name string, run func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running[name] || len(m.running) >= m.limit {
		return false
	}
	m.running[name] = true
	m.group.Go(func() {
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.running, name)
		}()
		run()
	})
	return true
}

// Wait returns when every function has ended.
func (m *Map) Wait() { m.group.Wait() }
