// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
)

func (s state) copy() state {
	s.pods, s.owners = maps.Clone(s.pods), maps.Clone(s.owners)
	return s
}

// Backup saves the stored state.
func (a *API) Backup() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.backup = a.state.copy()
}

// Restore replaces the state with the last backup, as restoring an etcd snapshot does.
// Newer objects disappear, and deleted ones return with their old UID and version.
// Watchers see no change events; they all list again.
func (a *API) Restore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = a.backup.copy()
	for _, f := range a.relists {
		f(maps.Clone(a.state.pods))
	}
}
