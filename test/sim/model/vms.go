// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// VMs returns every claimed sandbox on the node, by id.
func (m *Model) VMs() map[string]history.VM {
	out := map[string]history.VM{}
	for _, vm := range m.Sandboxd.History(history.Filter{After: 1 << 62}).VMs {
		if vm.State != history.StateWarm {
			out[vm.ID] = vm
		}
	}
	return out
}

// HasVM reports whether the node has the sandbox.
func (m *Model) HasVM(id string) bool {
	_, ok := m.VMs()[id]
	return ok
}

// leaseRuns reports whether the node has the sandbox and its lease has not ended.
// The node destroys a sandbox some time after its lease ends.
func (m *Model) leaseRuns(id string) bool {
	vm, lives := m.VMs()[id]
	return lives && (vm.Deadline.IsZero() || time.Now().Before(vm.Deadline))
}

// unexpired reports whether the daemon considers the key's lease running.
func (m *Model) unexpired(key string) bool {
	c, ok := m.Host.Table().Get(key)
	return ok && c.State == claims.Bound && !c.Deadline.IsZero() && !c.Expired(time.Now())
}

// leaseEndDoubted reports whether the end of the key's lease is too recent to prove that the
// sandbox is gone: the index lacks another sandbox whose lease runs, as an index that is
// being rebuilt does, and a lasting fault keeps that one from being confirmed. The daemon
// then waits five minutes, and looks every ten seconds.
func (m *Model) leaseEndDoubted(key string) bool {
	now := time.Now()
	c, ok := m.Host.Table().Get(key)
	if !ok || !c.Expired(now) || now.Sub(c.LeaseEnd()) > 5*time.Minute+30*time.Second {
		return false
	}
	alive := m.VMs()
	for _, o := range m.Host.Table().List() {
		if _, lives := alive[o.ID]; !lives && o.ID != c.ID && !o.Expired(now) && m.unanswerable(o.Key, o.ID) {
			return true
		}
	}
	return false
}

// rows returns the ids in the running daemon's table; nil while no daemon runs.
func (m *Model) rows() map[string]bool {
	table := m.Host.Table()
	if table == nil {
		return nil
	}
	out := map[string]bool{}
	for _, c := range append(table.List(), table.Releasing()...) {
		out[c.ID] = true
	}
	return out
}
