// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// MissingOwnersHold is how long sandboxes are kept when at least
	// MissingOwnersBound of them lose Pod and owner together without a deletion.
	MissingOwnersHold  = 10 * time.Minute
	MissingOwnersBound = 3
	// UnadoptableGrace is how long sandboxes are kept that no Pod can adopt.
	UnadoptableGrace = 3 * time.Minute
)

// restores records the effect of API server restores on sandboxes, by id.
type restores struct {
	allowed map[string]bool       // releasable before a restore
	held    map[string]*forgotten // lost their Pod and owner in a restore
	undone  map[types.UID]bool    // Pods whose deletion a restore has undone
}

// forgotten is the group of sandboxes that lost Pod and owner in one restore.
type forgotten struct {
	until time.Time
	left  int
}

func newRestores() restores {
	return restores{allowed: map[string]bool{}, held: map[string]*forgotten{}, undone: map[types.UID]bool{}}
}

// holds reports whether the sandbox must be kept after a restore. A group that has
// shrunk below the bound is not held: a restarted daemon cannot know its first size.
func (r restores) holds(id string, at time.Time) bool {
	f := r.held[id]
	return f != nil && f.left >= MissingOwnersBound && at.Before(f.until)
}

// forget removes a sandbox that was destroyed.
func (r restores) forget(id string) {
	if f := r.held[id]; f != nil {
		f.left--
		delete(r.held, id)
	}
}

// DaemonStarted records a start of the daemon. The new process does not know the
// forgotten sandboxes whose names were taken.
func (m *Model) DaemonStarted() {
	m.pods.started()
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.shown {
		if m.pods.replaced(s.key, s.pod) {
			m.restores.forget(id)
		}
	}
}

// Restore restores the API server from its backup. Sandboxes that were releasable
// before stay releasable; the restore itself makes none releasable.
func (m *Model) Restore() {
	alive, now := m.VMs(), time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	had := map[string]bool{} // sandboxes whose Pod lived before the restore
	for id, s := range m.shown {
		_, lives := alive[id]
		had[id] = lives && m.pods.livedAt(s.pod, now)
		if lives && !had[id] && (m.anyReleasable(s) || m.pods.replaced(s.key, s.pod) || m.pods.neverAdopted(s.key, s.pod, now)) {
			m.restores.allowed[id] = true
		}
	}
	gone := map[types.UID]bool{}
	for pod := range m.byPod {
		gone[pod] = !m.pods.livedAt(pod, now)
	}
	m.API.Restore()
	for pod := range m.byPod {
		if gone[pod] && m.pods.livedAt(pod, now) {
			delete(m.byPod, pod) // its sandbox may have been destroyed with it
			m.restores.undone[pod] = true
		}
	}
	lost := &forgotten{until: now.Add(MissingOwnersHold)}
	for id, s := range m.shown {
		if had[id] && !m.pods.livedAt(s.pod, now) && m.allReleasable(s.pod) {
			lost.left++
			m.restores.held[id] = lost
		}
	}
}
