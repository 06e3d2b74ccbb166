// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// missingOwnersHold is how long sandboxes are kept when missingOwnersBound of
	// them or more lose Pod and owner at once and nobody saw a deletion.
	missingOwnersHold  = 10 * time.Minute
	missingOwnersBound = 3
)

// restores is what restores of the API server mean for sandboxes, by id.
type restores struct {
	allowed map[string]bool       // whose release was right before one
	held    map[string]*forgotten // forgotten by one, with others
	undone  map[types.UID]bool    // Pods whose deletion one has undone
}

// forgotten is the sandboxes whose Pod and owner one restore has forgotten.
type forgotten struct {
	until time.Time
	left  int
}

func newRestores() restores {
	return restores{allowed: map[string]bool{}, held: map[string]*forgotten{}, undone: map[types.UID]bool{}}
}

// holds reports whether a restore is no reason to destroy the sandbox yet. Once
// there are few left, a daemon that starts anew cannot know that there were more.
func (r restores) holds(id string, at time.Time) bool {
	f := r.held[id]
	return f != nil && f.left >= missingOwnersBound && at.Before(f.until)
}

// over ends what there is to say of a sandbox that is destroyed.
func (r restores) over(id string) {
	if f := r.held[id]; f != nil {
		f.left--
		delete(r.held, id)
	}
}

// started begins a new life of the daemon, which does not know of the forgotten
// sandboxes whose names were taken.
func (m *model) started() {
	m.pods.started()
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.shown {
		if m.pods.displaced(s.key, s.pod) {
			m.restores.over(id)
		}
	}
}

// restore restores the API server from its backup. What could be released before
// may be released; what a restore forgets is not thereby released.
func (m *model) restore() {
	alive, now := m.w.alive(), time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	had := map[string]bool{} // sandboxes whose Pod lives, before
	for id, s := range m.shown {
		_, lives := alive[id]
		had[id] = lives && m.pods.livedAt(s.pod, now)
		if lives && !had[id] && (m.releasable(s) || m.pods.displaced(s.key, s.pod)) {
			m.restores.allowed[id] = true
		}
	}
	gone := map[types.UID]bool{}
	for pod := range m.byPod {
		gone[pod] = !m.pods.livedAt(pod, now)
	}
	m.w.API.Restore()
	for pod := range m.byPod {
		if gone[pod] && m.pods.livedAt(pod, now) {
			delete(m.byPod, pod) // its sandbox may have gone with it
			m.restores.undone[pod] = true
		}
	}
	lost := &forgotten{until: now.Add(missingOwnersHold)}
	for id, s := range m.shown {
		if had[id] && !m.pods.livedAt(s.pod, now) && m.unwanted(s.pod) {
			lost.left++
			m.restores.held[id] = lost
		}
	}
}
