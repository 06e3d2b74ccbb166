// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// Check returns the violations since the last check.
func (m *Model) Check() []string {
	happened := m.Sandboxd.History(history.Filter{After: m.lastEvent})
	rows := m.rows()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.FS.Faulty() {
		m.lastFault = time.Now()
	}
	for _, e := range happened.Events {
		m.lastEvent = max(m.lastEvent, e.Seq)
		switch e.Type {
		case history.EventReleased:
			m.checkRelease(e)
			m.restores.forget(e.Sandbox)
		case history.EventReaped, history.EventLost:
			m.restores.forget(e.Sandbox)
		case history.EventLeaseMoved, history.EventArchived, history.EventWoken:
			m.leaseMoved[e.Sandbox] = true
		}
	}
	m.pods.markLearned(m.lastFault)
	if rows != nil {
		for _, vm := range happened.VMs {
			m.checkCredential(vm, rows)
		}
	}
	m.Leaks.mu.Lock()
	for _, text := range m.Leaks.found {
		m.breaksRule(8, "a token left the daemon: %s", text)
	}
	m.Leaks.mu.Unlock()
	m.lastCheck = time.Now()
	out := m.violations
	m.violations = nil
	return out
}

// checkRelease checks the release of a sandbox. One that a user was shown may be
// released when its Pod is gone and its authority allows it, when a Pod of another
// authority has taken its name, or when no Pod can adopt it.
func (m *Model) checkRelease(e history.Event) {
	s := m.shown[e.Sandbox]
	switch {
	case s == nil:
		m.checkUnusedRelease(e)
	case m.restores.allowed[e.Sandbox]:
	case m.pods.livedAt(s.pod, e.Time):
		m.breaksRule(1, "sandbox %s of %s was destroyed by its %s while its pod %s lives", e.Sandbox, s.key, e.By, s.pod)
	case m.pods.replaced(s.key, s.pod):
	case m.restores.holds(e.Sandbox, e.Time):
		m.breaksContract("sandbox %s of %s was destroyed by its %s although %d were forgotten by a restore", e.Sandbox, s.key, e.By, MissingOwnersBound)
	case !m.anyReleasable(s) && !m.pods.neverAdopted(s.key, s.pod, e.Time):
		m.breaksRule(1, "sandbox %s of %s was destroyed by its %s while %v is alive", e.Sandbox, s.key, e.By, m.pods.authorities(s.pod))
	}
}

// anyReleasable reports whether at least one possible authority allows a release.
func (m *Model) anyReleasable(s *shownVM) bool {
	return slices.ContainsFunc(m.pods.authorities(s.pod), m.API.Releasable)
}

// allReleasable reports whether every possible authority over the Pods' sandboxes
// allows a release.
func (m *Model) allReleasable(pods ...types.UID) bool {
	for _, pod := range pods {
		for _, a := range m.pods.authorities(pod) {
			if !m.API.Releasable(a) {
				return false
			}
		}
	}
	return true
}

// checkUnusedRelease checks the release of a sandbox that nobody was shown. It may be
// released when it cannot be recorded or no Pod needs it, but not for its address.
func (m *Model) checkUnusedRelease(e history.Event) {
	address, ok := m.unusable[e.Sandbox]
	if !ok || !address.at.After(m.lastFault) {
		return
	}
	pod := m.API.Pod(address.key)
	if pod != nil && pod.CreationTimestamp.Time.Before(address.at) && pod.UID == address.pod && m.pods.livedAt(pod.UID, e.Time) && !apiserver.Terminal(pod) && !m.API.Releasable(apiserver.AuthorityOf(pod)) {
		m.breaksContract("sandbox %s was released for its unusable address although pod %s of %s waits for one", e.Sandbox, pod.UID, address.key)
	}
}

// checkCredential checks that the table keeps the credential of a living sandbox.
func (m *Model) checkCredential(vm history.VM, rows map[string]bool) {
	if vm.State == history.StateWarm || rows[vm.ID] || m.mayBeLost[vm.ID] {
		return
	}
	if m.indexMayMislead(vm.ID, m.lastCheck) {
		m.mayBeLost[vm.ID] = true
		return
	}
	if slices.Contains(m.Leaks.delivered(), vm.ID) {
		m.breaksRule(2, "sandbox %s of %s is alive and its credential is gone", vm.ID, vm.ClaimRef)
	}
}

// indexMayMislead reports whether the index was wrong after since for a sandbox whose
// lease was moved. The deadline that the daemon knows may have passed, and a wrong
// index then confirms the end of the sandbox.
func (m *Model) indexMayMislead(id string, since time.Time) bool {
	return m.leaseMoved[id] && m.Host.IndexWrongUntil().After(since.Add(-time.Minute))
}
