// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// check judges everything that happened since the last check.
func (m *model) check() []string {
	happened := m.w.Sandboxd.History(history.Filter{After: m.lastEvent})
	rows := m.w.rows()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.w.FS.Faulty() {
		m.trouble = time.Now()
	}
	for _, e := range happened.Events {
		m.lastEvent = max(m.lastEvent, e.Seq)
		switch e.Type {
		case history.EventReleased:
			m.judgeRelease(e)
			m.restores.over(e.Sandbox)
		case history.EventReaped, history.EventLost:
			m.restores.over(e.Sandbox)
		case history.EventLeaseMoved, history.EventArchived, history.EventWoken:
			m.moved[e.Sandbox] = true
		}
	}
	m.pods.learn(m.trouble)
	if rows != nil {
		for _, vm := range happened.VMs {
			m.judgeCredential(vm, rows)
		}
	}
	m.w.leak.mu.Lock()
	for _, text := range m.w.leak.found {
		m.violate(8, "a token left the daemon: %s", text)
	}
	m.w.leak.mu.Unlock()
	m.lastCheck = time.Now()
	out := m.violations
	m.violations = nil
	return out
}

// judgeRelease: a sandbox that somebody used is destroyed when its Pod is gone
// and its authority allows it, or when a Pod of another authority has taken its
// name since.
func (m *model) judgeRelease(e history.Event) {
	s := m.shown[e.Sandbox]
	switch {
	case s == nil:
		m.judgeReturn(e)
	case m.restores.allowed[e.Sandbox]:
	case m.pods.livedAt(s.pod, e.Time):
		m.violate(1, "sandbox %s of %s was destroyed by its %s while its pod %s lives", e.Sandbox, s.key, e.By, s.pod)
	case m.pods.displaced(s.key, s.pod):
	case m.restores.holds(e.Sandbox, e.Time):
		m.breaks("sandbox %s of %s was destroyed by its %s although %d were forgotten by a restore", e.Sandbox, s.key, e.By, missingOwnersBound)
	case !m.releasable(s):
		m.violate(1, "sandbox %s of %s was destroyed by its %s while %v is alive", e.Sandbox, s.key, e.By, m.pods.authorities(s.pod))
	}
}

// releasable reports whether one of those who may have the say allows a release.
func (m *model) releasable(s *served) bool {
	return slices.ContainsFunc(m.pods.authorities(s.pod), m.w.API.Releasable)
}

// unwanted reports whether all of those who may have the say over what the Pods left
// allow a release.
func (m *model) unwanted(pods ...types.UID) bool {
	for _, pod := range pods {
		for _, a := range m.pods.authorities(pod) {
			if !m.w.API.Releasable(a) {
				return false
			}
		}
	}
	return true
}

// judgeReturn: a sandbox that nobody was shown is given back when it cannot be
// recorded or nobody wants it, and not because of its address.
func (m *model) judgeReturn(e history.Event) {
	odd, ok := m.odd[e.Sandbox]
	if !ok || !odd.at.After(m.trouble) {
		return
	}
	pod := m.w.API.Pod(odd.key)
	if pod != nil && pod.CreationTimestamp.Time.Before(odd.at) && m.pods.livedAt(pod.UID, e.Time) && !terminal(pod) && !m.w.API.Releasable(authorityOf(pod)) {
		m.breaks("sandbox %s was given back although pod %s of %s waits for one: its address is odd", e.Sandbox, pod.UID, odd.key)
	}
}

// judgeCredential: while a sandbox lives, the credential that arrived for it
// is in the table.
func (m *model) judgeCredential(vm history.VM, rows map[string]bool) {
	if vm.State == history.StateWarm || rows[vm.ID] || m.excused[vm.ID] {
		return
	}
	if m.mayBeMisled(vm.ID, m.lastCheck) {
		m.excused[vm.ID] = true
		return
	}
	if slices.Contains(m.w.leak.delivered(), vm.ID) {
		m.violate(2, "sandbox %s of %s is alive and its credential is gone", vm.ID, vm.ClaimRef)
	}
}

// mayBeMisled reports whether the index has been wrong since then about a sandbox
// whose lease somebody has moved: the lease that the daemon knows may have passed,
// and then all it could see said that the sandbox is gone.
func (m *model) mayBeMisled(id string, since time.Time) bool {
	return m.moved[id] && m.w.lied.After(since.Add(-time.Minute))
}

// rows is every sandbox that the running daemon's table has; nil while there
// is no daemon.
func (w *World) rows() map[string]bool {
	table := w.Table()
	if table == nil {
		return nil
	}
	out := map[string]bool{}
	for _, c := range append(table.List(), table.Releasing()...) {
		out[c.ID] = true
	}
	return out
}

// alive is every claimed sandbox on the node, by id.
func (w *World) alive() map[string]history.VM {
	out := map[string]history.VM{}
	for _, vm := range w.Sandboxd.History(history.Filter{After: 1 << 62}).VMs {
		if vm.State != history.StateWarm {
			out[vm.ID] = vm
		}
	}
	return out
}

// unexpired reports whether the daemon takes the key's lease for running.
func (m *model) unexpired(key string) bool {
	c, ok := m.w.Table().Get(key)
	return ok && c.State == claims.Bound && !c.Deadline.IsZero() && !c.Expired(time.Now())
}

// leaseRuns reports whether the node has the sandbox, and its lease has not ended. One
// whose lease has ended is destroyed when the node gets to it.
func (w *World) leaseRuns(id string) bool {
	vm, lives := w.alive()[id]
	return lives && (vm.Deadline.IsZero() || time.Now().Before(vm.Deadline))
}

// lives reports whether the node has the sandbox.
func (w *World) lives(id string) bool {
	_, ok := w.alive()[id]
	return ok
}
