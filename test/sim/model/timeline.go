// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// durableWithin is how long a daemon may take to record a change that its cache
// shows: one reconcile and a margin.
const durableWithin = time.Minute

// timeline records each Pod's authorities, its end, and how much of both the daemon
// could know. It calls no other part, so that every part can call it.
type timeline struct {
	mu   sync.Mutex
	run  int // counts the starts of the daemon
	pods map[types.UID]*podHistory
	keys map[string][]types.UID // the Pods that had a key, in order
	last map[string]types.UID   // the Pod that the daemon's cache showed last
}

type podHistory struct {
	owned []ownedBy
	// since is when it was first seen.
	since time.Time
	// goneAt is when its deletion was requested or it disappeared; zero while it
	// lives.
	goneAt time.Time
	// deletedAt is when its deletion was requested, or it was removed; zero if only a
	// restore has lost it.
	deletedAt time.Time
	// endedAt is when the API server stored its terminal status.
	endedAt time.Time
}

// ownedBy is a period in which a Pod had one authority.
type ownedBy struct {
	authority types.UID
	// random is true if no other Pod of the authority will have the name.
	random bool
	// seenIn is the run of the daemon whose cache showed it at seenAt.
	seenIn int
	seenAt time.Time
	// learned is true when the table must have recorded it.
	learned bool
}

func newTimeline(api *apiserver.API) *timeline {
	t := &timeline{pods: map[types.UID]*podHistory{}, keys: map[string][]types.UID{}, last: map[string]types.UID{}}
	api.Watch(func(before, after *corev1.Pod) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if after == nil {
			t.gone(before.UID)
			t.deleted(before.UID)
			return
		}
		t.stored(after)
	})
	api.WatchRelists(t.restored)
	return t
}

// stored records a Pod of the API server. The caller holds mu.
func (t *timeline) stored(pod *corev1.Pod) {
	h := t.pods[pod.UID]
	if h == nil {
		h = &podHistory{since: time.Now()}
		t.pods[pod.UID] = h
		key := podcontract.Key(pod)
		t.keys[key] = append(t.keys[key], pod.UID)
	}
	if a := apiserver.AuthorityOf(pod); len(h.owned) == 0 || h.owned[len(h.owned)-1].authority != a {
		random := apiserver.RandomName(pod.GenerateName, metav1.GetControllerOf(pod))
		h.owned = append(h.owned, ownedBy{authority: a, random: random})
	}
	switch {
	case !apiserver.Terminal(pod):
		h.endedAt = time.Time{}
	case h.endedAt.IsZero():
		h.endedAt = time.Now()
	}
	if pod.DeletionTimestamp != nil {
		t.gone(pod.UID)
		t.deleted(pod.UID)
	}
}

func (t *timeline) deleted(uid types.UID) {
	if h := t.pods[uid]; h != nil && h.deletedAt.IsZero() {
		h.deletedAt = time.Now()
	}
}

func (t *timeline) gone(uid types.UID) {
	if h := t.pods[uid]; h != nil && h.goneAt.IsZero() {
		h.goneAt = time.Now()
	}
}

// restored records a complete list that replaces the known state. A Pod that exists
// again follows the Pods that had its key meanwhile.
func (t *timeline) restored(pods map[string]*corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	there := map[types.UID]bool{}
	for key, pod := range pods {
		there[pod.UID] = true
		h := t.pods[pod.UID]
		if h != nil && !h.goneAt.IsZero() && pod.DeletionTimestamp == nil {
			h.goneAt, h.deletedAt = time.Time{}, time.Time{}
			t.keys[key] = append(t.keys[key], pod.UID)
		}
		t.stored(pod)
	}
	for uid := range t.pods {
		if !there[uid] {
			t.gone(uid)
		}
	}
}

// cached records that the daemon's cache shows the Pod.
func (t *timeline) cached(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[podcontract.Key(pod)] = pod.UID
	h := t.pods[pod.UID]
	if h == nil {
		return
	}
	for i, o := range slices.Backward(h.owned) {
		if o.authority != apiserver.AuthorityOf(pod) {
			continue
		}
		if !o.learned && o.seenIn != t.run {
			h.owned[i].seenIn, h.owned[i].seenAt = t.run, time.Now()
		}
		return
	}
}

// started records a start of the daemon.
func (t *timeline) started() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.run++
}

// markLearned marks the authorities that the running daemon must have recorded: it
// has seen them for durableWithin, and the disk has not failed since.
func (t *timeline) markLearned(lastFault time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.pods {
		for i, o := range h.owned {
			if o.seenIn == t.run && o.seenAt.After(lastFault) && time.Since(o.seenAt) > durableWithin {
				h.owned[i].learned = true
			}
		}
	}
}

// authorities returns the possible authorities over the Pod's sandbox: the last one,
// and the earlier ones for as long as the daemon cannot know the last one.
func (t *timeline) authorities(uid types.UID) (out []types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.possible(uid) {
		out = append(out, o.authority)
	}
	return out
}

// possible returns the periods of the possible authorities. The caller holds mu.
func (t *timeline) possible(uid types.UID) (out []ownedBy) {
	h := t.pods[uid]
	if h == nil {
		return nil
	}
	for _, o := range slices.Backward(h.owned) {
		out = append(out, o)
		if o.learned || (o.seenIn == t.run && t.run > 0) {
			break
		}
	}
	return out
}

// neverAdopted reports whether no Pod can adopt the sandbox of this Pod, and it has been
// kept for the grace: its name was random, it was deleted that long ago, and no Pod had
// the name when the grace ended. A later one may come between the decision and the
// release. A restore that lost the Pod is no deletion.
func (t *timeline) neverAdopted(key string, uid types.UID, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	if h == nil || h.deletedAt.IsZero() || at.Sub(h.deletedAt) < UnadoptableGrace {
		return false
	}
	for _, other := range t.keys[key] {
		o := t.pods[other]
		if lives := o.goneAt.IsZero() || o.goneAt.After(at); lives && o.since.Sub(h.deletedAt) <= UnadoptableGrace {
			return false
		}
	}
	return slices.ContainsFunc(t.possible(uid), func(o ownedBy) bool { return o.random })
}

// mayAdopt reports whether the Pod next may adopt the sandbox of the Pod last.
func (t *timeline) mayAdopt(last, next types.UID) bool {
	old := t.authorities(last)
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.pods[next].owned, func(o ownedBy) bool { return slices.Contains(old, o.authority) })
}

// replaced reports whether a Pod with an authority that the daemon can tell from
// this Pod's has taken the key since.
func (t *timeline) replaced(key string, uid types.UID) bool {
	mine := t.authorities(uid)
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.keys[key]
	at := slices.Index(had, uid)
	if len(mine) == 0 || at < 0 {
		return false
	}
	return slices.ContainsFunc(had[at:], func(other types.UID) bool {
		return other != uid && slices.ContainsFunc(t.pods[other].owned, func(o ownedBy) bool {
			return slices.ContainsFunc(mine, func(a types.UID) bool { return a != o.authority })
		})
	})
}

// usedKeyLater reports whether the Pod next had the key after the Pod last.
func (t *timeline) usedKeyLater(key string, last, next types.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Index(t.keys[key], next) > slices.Index(t.keys[key], last)
}

// livedAt reports whether the Pod existed, and no deletion was requested, at that time.
func (t *timeline) livedAt(uid types.UID, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	return h != nil && (h.goneAt.IsZero() || h.goneAt.After(at))
}

// endedBefore reports whether the daemon's cache shows this Pod for the key, and the
// API server stored its terminal status before at.
func (t *timeline) endedBefore(key string, uid types.UID, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	return h != nil && t.last[key] == uid && !h.endedAt.IsZero() && h.endedAt.Before(at)
}
