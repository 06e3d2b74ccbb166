// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import "sync"

// tasks runs functions side by side, at most limit of them, and never two of one
// name. A task that hangs holds up no other name.
type tasks struct {
	limit int

	mu      sync.Mutex
	running map[string]bool
	group   sync.WaitGroup
}

// start runs the task unless one of its name is running or limit are. It never
// blocks, and reports whether the task was started.
func (t *tasks) start(name string, run func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[name] || len(t.running) >= t.limit {
		return false
	}
	if t.running == nil {
		t.running = map[string]bool{}
	}
	t.running[name] = true
	t.group.Go(func() {
		defer func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.running, name)
		}()
		run()
	})
	return true
}

// wait returns when every task has ended.
func (t *tasks) wait() { t.group.Wait() }
