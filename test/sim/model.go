// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// model knows what users were shown and what the node did, and judges by the
// contract alone. It never asks the provider why.
type model struct {
	w    *World
	pods *timeline
	// abroad is true while a daemon that was started against another cluster runs.
	abroad atomic.Bool

	mu         sync.Mutex
	shown      map[string]*served   // sandboxes shown as running, by id
	byPod      map[types.UID]string // the sandbox that a Pod was shown on
	excused    map[string]bool      // answered, lost with a crash before it was durable
	odd        map[string]oddClaim  // answered with an address that is none, by id
	moved      map[string]bool      // whose lease is not the one of the claim
	misled     map[string]bool      // ended by an index that was wrong when the lease passed
	restores   restores
	trouble    time.Time // when the disk last failed, or the machine
	lastEvent  int64
	lastCheck  time.Time
	violations []string
}

// served is a sandbox that a user has seen, and the last Pod it was seen on.
type served struct {
	key string
	pod types.UID
}

type oddClaim struct {
	key string
	at  time.Time
}

func newModel(w *World) *model {
	return &model{
		w: w, pods: newTimeline(w.API), shown: map[string]*served{}, byPod: map[types.UID]string{}, excused: map[string]bool{},
		odd: map[string]oddClaim{}, moved: map[string]bool{}, misled: map[string]bool{}, restores: newRestores(),
	}
}

func (m *model) violate(rule int, format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf("rule %d: ", rule)+fmt.Sprintf(format, args...))
}

// breaks is a violation of the documented behaviour that no rule of its own is about.
func (m *model) breaks(format string, args ...any) {
	m.violations = append(m.violations, "contract: "+fmt.Sprintf(format, args...))
}

// published judges a status at the moment it is published.
func (m *model) published(pod *corev1.Pod) {
	text, _ := json.Marshal(pod)
	m.w.leak.look(text)
	id, key := podstatus.ClaimID(pod), podcontract.Key(pod)
	if m.abroad.Load() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaks("%s was published %s in another cluster", key, pod.Status.Phase)
		return
	}
	lives := pod.Status.Phase == corev1.PodFailed && m.w.leaseRuns(id)
	stored := m.w.API.Pod(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch pod.Status.Phase {
	case corev1.PodFailed:
		switch {
		case !lives || pod.Status.Reason == podstatus.ReasonDeleted && (stored == nil || stored.UID != pod.UID || stored.DeletionTimestamp != nil):
			// A deleted Pod is over, and its sandbox may be kept for the next one.
		case pod.Status.Reason == podstatus.ReasonDeleted && m.restores.undone[pod.UID]:
			// The deletion was real, and a restore has undone it since.
		case m.mayBeMisled(id, time.Now()):
			m.misled[id] = true
		default:
			m.violate(1, "%s was published Failed while its sandbox %s is alive", key, id)
		}
	case corev1.PodRunning:
		m.publishedRunning(pod, key, id, stored == nil || stored.UID != pod.UID)
	}
}

// publishedRunning is published with mu held. gone is true when the API server has the
// Pod no more.
func (m *model) publishedRunning(pod *corev1.Pod, key, id string, gone bool) {
	// A Pod that is settled between the making of its status and this look at the
	// file has neither row nor sandbox any more, or its row waits for the release.
	if !m.durable(key, id, pod.UID) && m.w.lives(id) && (!gone || !m.recorded(id)) {
		m.violate(3, "%s was published Running on %s, which the file does not have for pod %s", key, id, pod.UID)
	}
	if ip := pod.Status.PodIP; ip != "" && !isAddress(ip) {
		m.breaks("%s was published with the IP %q", key, ip)
	}
	if other := m.byPod[pod.UID]; other != "" && other != id {
		m.violate(5, "pod %s of %s ran on %s and now runs on %s", pod.UID, key, other, id)
	}
	m.byPod[pod.UID] = id
	s := m.shown[id]
	if s == nil {
		s = &served{key: key, pod: pod.UID}
		m.shown[id] = s
	}
	switch {
	case s.key != key:
		m.violate(5, "sandbox %s of %s was given to %s", id, s.key, key)
	case s.pod == pod.UID:
	case !m.pods.mayAdopt(s.pod, pod.UID):
		m.violate(5, "sandbox %s of %s, pod %s (%s) was given to pod %s (%s)", id, key, s.pod, m.pods.authorities(s.pod), pod.UID, m.pods.authorities(pod.UID))
	case m.pods.later(key, s.pod, pod.UID):
		s.pod = pod.UID
	}
}

// askedFor judges what the daemon asks of sandboxd. In another cluster it has
// nothing to ask for.
func (m *model) askedFor(what string) {
	if m.abroad.Load() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaks("%s was asked for in another cluster", what)
	}
}

// claiming judges a claim when it is asked for: nobody can use one for a Pod that
// has ended.
func (m *model) claiming(key string) {
	pod := m.w.API.Pod(key)
	if pod != nil && m.pods.endedBefore(key, pod.UID, time.Now()) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaks("a sandbox was claimed for %s, pod %s, which is %s", key, pod.UID, pod.Status.Phase)
	}
}

// oddlyAddressed takes note of a claim, asked for since then, whose answer has no
// usable address.
func (m *model) oddlyAddressed(id, key string, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odd[id] = oddClaim{key, since}
}

// durable reports whether a crash of the machine would leave the claim to the
// Pod. Only its own row is decoded: there can be thousands.
func (m *model) durable(key, id string, holder types.UID) bool {
	_, rest, found := bytes.Cut(m.w.FS.Durable(tablePath), fmt.Appendf(nil, "%q:", key))
	var row struct {
		ID     string
		PodUID types.UID
	}
	return found && json.NewDecoder(bytes.NewReader(rest)).Decode(&row) == nil && row.ID == id && row.PodUID == holder
}

// recorded reports whether a crash of the machine would leave the credential.
func (m *model) recorded(id string) bool {
	return bytes.Contains(m.w.FS.Durable(tablePath), fmt.Appendf(nil, "%q", id))
}

// crashed excuses the sandboxes whose credential had arrived and which nobody
// was shown: they are lost answers, which end with their lease.
func (m *model) crashed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble = time.Now()
	for _, id := range m.w.leak.delivered() {
		if m.shown[id] == nil {
			m.excused[id] = true
		}
	}
}
