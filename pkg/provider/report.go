// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// WaitingFor says what has to happen for the claim to go on, as far as this
// provider knows; empty when there is nothing to wait for. It is made of
// constant texts: no answer of a peer is quoted in it. It never blocks.
func (p *Provider) WaitingFor(c claims.Claim) string {
	if why, ok := p.unreleased.why(c.ID); ok {
		return "sandboxd to confirm the release: " + why
	}
	if p.Ended(c) {
		return "its Pod, which has ended, to be deleted"
	}
	if until, held := p.missing.until(c.ID); held {
		return "an operator, or " + until.UTC().Format(time.RFC3339) + ": its Pod and owner went missing together with others and no deletion was seen"
	}
	switch c.State {
	case claims.Tentative:
		return "the claims file to take it; if that fails it is given back"
	case claims.Quarantined:
		return "sandboxd to say whether it still has the sandbox"
	case claims.Releasing:
		return "sandboxd to confirm the release"
	}
	switch {
	case !c.Durable:
		return "the claims file to name its Pod"
	case c.Expired(time.Now()):
		return "sandboxd to say whether the lease has ended"
	case c.State == claims.Preserved:
		text := "a new Pod, or the end of its owner"
		if reason := p.rechecks.reason(c); reason != "" {
			text += ": " + reason
		}
		return text
	default:
		// The Pod may have vanished; the verdict over its owner says so.
		return p.rechecks.reason(c)
	}
}

// Ended reports whether the claim's sandbox is known to be gone and its Pod has
// ended by that. Such a claim keeps its credential for the Pod's teardown, and waits
// for nothing else.
func (p *Provider) Ended(c claims.Claim) bool {
	if t, ok := p.pods.get(c.Key); ok && t.pod.UID == c.PodUID && t.end != nil {
		return !t.end.deleted
	}
	pod := p.holderInCache(c)
	return pod != nil && terminal(pod) && (pod.Status.Reason == podcontract.ReasonLeaseExpired || pod.Status.Reason == podcontract.ReasonLost)
}

// Verified is when sandboxd last listed its whole index, which is what claims
// are verified against; zero before the first time. It never blocks.
func (p *Provider) Verified() time.Time { return p.listed.get() }

// reason is the latest verdict that kept the claim, or empty.
func (r *rechecks) reason(c claims.Claim) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.next[c.Key]; last.id == c.ID && c.State != claims.Tentative {
		return last.reason
	}
	return ""
}

// unreleased remembers the last try of each release that is not confirmed, by
// sandbox id. The zero value is ready.
type unreleased struct {
	mu   sync.Mutex
	last map[string]releaseTry
}

type releaseTry struct {
	why string
	at  time.Time
}

// due reports whether a release may be tried now: each is tried at once, and then
// every releasesEvery.
func (u *unreleased) due(id string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, tried := u.last[id]
	return !tried || now.Sub(last.at) >= releasesEvery
}

// note records the outcome of a release that was tried. It returns why it is
// not confirmed, and whether that has changed.
func (u *unreleased) note(id string, gone bool, err error) (why string, changed bool) {
	why = "it is not listed just now, which is not sure yet"
	switch class := sandboxd.ClassOf(err); {
	case gone:
		u.forget(id)
		return "", false
	case class != "":
		why = string(class)
	case err != nil:
		why = "the call failed"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[string]releaseTry{}
	}
	changed = u.last[id].why != why
	u.last[id] = releaseTry{why, time.Now()}
	return why, changed
}

func (u *unreleased) why(id string) (string, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, ok := u.last[id]
	return last.why, ok
}

// shed forgets the sandboxes that no claim names any more.
func (u *unreleased) shed(claimed map[string]claims.Claim) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.last, func(id string, _ releaseTry) bool {
		_, known := claimed[id]
		return !known
	})
}

func (u *unreleased) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.last, id)
}

// moment is a time that is set and read side by side. The zero value is the
// zero time.
type moment struct{ at atomic.Pointer[time.Time] }

func (m *moment) set(at time.Time) { m.at.Store(&at) }

func (m *moment) get() time.Time {
	if at := m.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
