// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// learnTime is how long a daemon may take to write down what its cache shows: a
// reconcile, and some.
const learnTime = time.Minute

// timeline knows whose each Pod was, when it went, and what of that the daemon
// could know. It calls nobody, so that anybody can call it.
type timeline struct {
	mu   sync.Mutex
	life int // counts the daemon's processes
	pods map[types.UID]*podHistory
	keys map[string][]types.UID // the Pods that had a key, in order
	last map[string]types.UID   // the Pod that the daemon's cache showed last
}

type podHistory struct {
	owned []ownedBy
	// goneAt is when its deletion was asked for, or it vanished; zero while it
	// lives.
	goneAt time.Time
	// endedAt is when the API server got its terminal status.
	endedAt time.Time
}

// ownedBy is a time in which a Pod had one authority.
type ownedBy struct {
	authority types.UID
	// seenIn is the daemon's life whose cache showed it at seenAt.
	seenIn int
	seenAt time.Time
	// learned is true when the table certainly has it.
	learned bool
}

func newTimeline(api *API) *timeline {
	t := &timeline{pods: map[types.UID]*podHistory{}, keys: map[string][]types.UID{}, last: map[string]types.UID{}}
	api.Watch(func(before, after *corev1.Pod) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if after == nil {
			t.gone(before.UID)
			return
		}
		t.stored(after)
	})
	api.WatchRelists(t.restored)
	return t
}

// stored takes note of what the API server has. The caller holds mu.
func (t *timeline) stored(pod *corev1.Pod) {
	h := t.pods[pod.UID]
	if h == nil {
		h = &podHistory{}
		t.pods[pod.UID] = h
		key := podcontract.Key(pod)
		t.keys[key] = append(t.keys[key], pod.UID)
	}
	if a := authorityOf(pod); len(h.owned) == 0 || h.owned[len(h.owned)-1].authority != a {
		h.owned = append(h.owned, ownedBy{authority: a})
	}
	switch {
	case !terminal(pod):
		h.endedAt = time.Time{}
	case h.endedAt.IsZero():
		h.endedAt = time.Now()
	}
	if pod.DeletionTimestamp != nil {
		t.gone(pod.UID)
	}
}

func (t *timeline) gone(uid types.UID) {
	if h := t.pods[uid]; h != nil && h.goneAt.IsZero() {
		h.goneAt = time.Now()
	}
}

// restored takes note of a state without a history. A Pod that is back comes
// after whatever had its key meanwhile.
func (t *timeline) restored(pods map[string]*corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	there := map[types.UID]bool{}
	for key, pod := range pods {
		there[pod.UID] = true
		h := t.pods[pod.UID]
		if h != nil && !h.goneAt.IsZero() && pod.DeletionTimestamp == nil {
			h.goneAt = time.Time{}
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

// cached takes note of what the daemon's cache shows.
func (t *timeline) cached(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[podcontract.Key(pod)] = pod.UID
	h := t.pods[pod.UID]
	if h == nil {
		return
	}
	for i, o := range slices.Backward(h.owned) {
		if o.authority != authorityOf(pod) {
			continue
		}
		if !o.learned && o.seenIn != t.life {
			h.owned[i].seenIn, h.owned[i].seenAt = t.life, time.Now()
		}
		return
	}
}

// started begins a new life of the daemon.
func (t *timeline) started() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.life++
}

// learn takes it that what the running daemon has seen for long enough, with a
// disk that has worked since, is in its table.
func (t *timeline) learn(trouble time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.pods {
		for i, o := range h.owned {
			if o.seenIn == t.life && o.seenAt.After(trouble) && time.Since(o.seenAt) > learnTime {
				h.owned[i].learned = true
			}
		}
	}
}

// authorities returns who may have the say over what the Pod left: its last
// authority, and as long as the daemon cannot know of that, those before.
func (t *timeline) authorities(uid types.UID) (out []types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	if h == nil {
		return nil
	}
	for _, o := range slices.Backward(h.owned) {
		out = append(out, o.authority)
		if o.learned || (o.seenIn == t.life && t.life > 0) {
			break
		}
	}
	return out
}

// mayAdopt reports whether the Pod next could take over what the Pod last left.
func (t *timeline) mayAdopt(last, next types.UID) bool {
	old := t.authorities(last)
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.pods[next].owned, func(o ownedBy) bool { return slices.Contains(old, o.authority) })
}

// displaced reports whether a Pod of another authority has taken the key since
// the Pod had it: of another one than the daemon may take for the Pod's.
func (t *timeline) displaced(key string, uid types.UID) bool {
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

// later reports whether the Pod next had the key after the Pod last.
func (t *timeline) later(key string, last, next types.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Index(t.keys[key], next) > slices.Index(t.keys[key], last)
}

// livedAt reports whether nobody had asked for the Pod's deletion until then.
func (t *timeline) livedAt(uid types.UID, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	return h != nil && (h.goneAt.IsZero() || h.goneAt.After(at))
}

// endedBefore reports whether the API server had a terminal status of the Pod, which
// is the one that the daemon's cache shows.
func (t *timeline) endedBefore(key string, uid types.UID, at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.pods[uid]
	return h != nil && t.last[key] == uid && !h.endedAt.IsZero() && h.endedAt.Before(at)
}
