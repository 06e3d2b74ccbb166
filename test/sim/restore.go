// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
)

func (s state) copy() state {
	s.pods, s.owners = maps.Clone(s.pods), maps.Clone(s.owners)
	return s
}

// Backup remembers what the server stores.
func (a *API) Backup() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.backup = a.state.copy()
}

// Restore puts back what the last backup holds, as an etcd snapshot does: what
// was made since is forgotten and what was deleted since is there again, under
// its old UID and at its old version. No watcher sees a change; all list again.
func (a *API) Restore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = a.backup.copy()
	for _, f := range a.relists {
		f(maps.Clone(a.state.pods))
	}
}
