// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// An owner is read again after recheckFirst, then at doubling distances, and
// at least every recheckMost.
const (
	recheckFirst = 10 * time.Second
	recheckMost  = 10 * time.Minute
)

// recheckOwners reads the owners of the claims that no Pod holds: those that a
// deletion preserved, and those whose Pod vanished while nobody watched. An
// owner that is gone, replaced, in teardown or expired releases the claim; any
// other keeps it (Pod contract).
func (p *Provider) recheckOwners(ctx context.Context) {
	if !p.podsSynced() {
		return
	}
	for _, c := range p.table.Select(p.podless) {
		if ctx.Err() != nil {
			return
		}
		if p.rechecks.due(c, time.Now()) {
			p.recheckOwner(ctx, c)
		}
	}
}

// podless reports whether no Pod holds the claim, as far as this node knows.
func (p *Provider) podless(c claims.Claim) bool {
	t, ok := p.pods.get(c.Key)
	if ok && t.pod.UID == c.PodUID {
		return false
	}
	return !p.cached(c)
}

// cached reports whether the Pod cache has the claim's Pod.
func (p *Provider) cached(c claims.Claim) bool { return p.cachedPod(c) != nil }

func (p *Provider) cachedPod(c claims.Claim) *corev1.Pod {
	namespace, name, _ := strings.Cut(c.Key, "/")
	pod, err := p.lister.Pods(namespace).Get(name)
	if err != nil || pod.UID != c.PodUID {
		return nil
	}
	return pod
}

// over reports whether the claim's Pod has ended, here or in the API.
func (p *Provider) over(c claims.Claim) bool {
	if t, ok := p.pods.get(c.Key); ok && t.pod.UID == c.PodUID && t.end != nil {
		return true
	}
	pod := p.cachedPod(c)
	return pod != nil && terminal(pod)
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func (p *Provider) recheckOwner(ctx context.Context, seen claims.Claim) {
	defer p.keys.lock(seen.Key)()
	c, ok := p.table.Get(seen.Key)
	if !ok || c.ID != seen.ID || !p.podless(c) {
		return
	}
	logger := klog.FromContext(ctx).WithValues("key", c.Key, "claim", c.ID)
	if c.State == claims.Tentative {
		// It never served anybody, and the Pod it was for has gone.
		if err := p.table.Settle(); err == nil {
			p.withdraw(ctx, c)
			logger.Info("no pod holds this claim, which was never recorded; giving it back")
		}
		return
	}
	d := p.judgeRow(ctx, c)
	if !d.Release {
		if p.rechecks.kept(c, d.Reason, time.Now()) {
			logger.Info("no pod holds this claim; its sandbox is preserved", d.Attrs()...)
		}
		return
	}
	p.withdraw(ctx, c)
	logger.Info("no pod holds this claim; its release is authorised", "reason", d.Reason)
	p.recordReleased(c, d.Reason)
}

// judgeRow judges by what the row recorded of the Pod that is gone: the owner
// of a preserved claim, else the controller from the moment of the claim, else
// the bare Pod itself. A row from an older build that names neither gives no
// authority.
func (p *Provider) judgeRow(ctx context.Context, c claims.Claim) ownership.Decision {
	switch {
	case c.Owner != nil:
		return p.judge(ctx, c, c.Owner)
	case c.Controller != nil:
		return p.judge(ctx, c, c.Controller)
	case c.Authority != "" && c.Authority == c.PodUID:
		return p.judge(ctx, c, nil)
	default:
		return ownership.Decision{Reason: "the table does not say who owned it; it ends with its lease"}
	}
}

// rechecks is when each podless claim's owner is read next, by Pod key. It is
// not persisted: after a restart every owner is read again soon. The zero
// value is ready.
type rechecks struct {
	mu   sync.Mutex
	next map[string]recheck
}

type recheck struct {
	id     string
	at     time.Time
	delay  time.Duration
	reason string
}

// schedule puts the claim's first re-check recheckFirst from now.
func (r *rechecks) schedule(c claims.Claim) {
	r.set(c.Key, recheck{id: c.ID, at: time.Now().Add(recheckFirst), delay: recheckFirst})
}

// due reports whether the claim's owner is to be read now. A claim not seen
// before is scheduled.
func (r *rechecks) due(c claims.Claim, now time.Time) bool {
	r.mu.Lock()
	next, ok := r.next[c.Key]
	r.mu.Unlock()
	if !ok || next.id != c.ID {
		r.schedule(c)
		return false
	}
	return !now.Before(next.at)
}

// kept doubles the distance after a verdict that preserves, and reports
// whether its reason is new.
func (r *rechecks) kept(c claims.Claim, reason string, now time.Time) (news bool) {
	r.mu.Lock()
	last := r.next[c.Key]
	r.mu.Unlock()
	delay := min(2*max(last.delay, recheckFirst), recheckMost)
	r.set(c.Key, recheck{id: c.ID, at: now.Add(delay), delay: delay, reason: reason})
	return last.reason != reason
}

func (r *rechecks) set(key string, next recheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = map[string]recheck{}
	}
	r.next[key] = next
}

func (r *rechecks) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, key)
}
