// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
)

// model knows what users were shown and what the node did, and judges by the
// contract alone. It never asks the provider why.
type model struct {
	w *World

	mu         sync.Mutex
	shown      map[string]*served     // sandboxes shown as running, by id
	byPod      map[types.UID]string   // the sandbox that a Pod was shown on
	authority  map[string][]types.UID // who had a Pod under a key, in order
	excused    map[string]bool        // answered, lost with a crash before it was durable
	lastEvent  int64
	violations []string
}

// served is a sandbox that a user has seen.
type served struct {
	key       string
	authority types.UID
}

func newModel(w *World) *model {
	m := &model{w: w, shown: map[string]*served{}, byPod: map[types.UID]string{}, authority: map[string][]types.UID{}, excused: map[string]bool{}}
	w.API.Watch(func(before, after *corev1.Pod) {
		if before == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			key := podcontract.Key(after)
			m.authority[key] = append(m.authority[key], authorityOf(after))
		}
	})
	return m
}

func authorityOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return ref.UID
	}
	return pod.UID
}

func (m *model) violate(rule int, format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf("rule %d: ", rule)+fmt.Sprintf(format, args...))
}

// published judges a status at the moment it is published.
func (m *model) published(pod *corev1.Pod) {
	text, _ := json.Marshal(pod)
	m.w.leak.look(text)
	id, key := podcontract.PublishedClaim(pod), podcontract.Key(pod)
	lives := pod.Status.Phase == corev1.PodFailed && m.w.lives(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch pod.Status.Phase {
	case corev1.PodFailed:
		if deleted := pod.Status.Reason == podcontract.ReasonDeleted; deleted {
			if current := m.w.API.Pod(key); current != nil && current.UID == pod.UID && current.DeletionTimestamp == nil {
				m.violate(1, "%s was published as deleted and is not", key)
			}
		} else if lives {
			m.violate(1, "%s was published Failed while its sandbox %s is alive", key, id)
		}
	case corev1.PodRunning:
		// A Pod that is settled between the making of its status and this
		// look at the file has neither row nor sandbox any more.
		if !m.durable(key, id, pod.UID) && m.w.lives(id) {
			m.violate(3, "%s was published Running on %s, which the file does not have for pod %s", key, id, pod.UID)
		}
		if other := m.byPod[pod.UID]; other != "" && other != id {
			m.violate(5, "pod %s of %s ran on %s and now runs on %s", pod.UID, key, other, id)
		}
		m.byPod[pod.UID] = id
		s := m.shown[id]
		if s == nil {
			s = &served{key: key, authority: authorityOf(pod)}
			m.shown[id] = s
		}
		if s.key != key || s.authority != authorityOf(pod) {
			m.violate(5, "sandbox %s of %s (%s) was given to %s (%s)", id, s.key, s.authority, key, authorityOf(pod))
		}
	}
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

// crashed excuses the sandboxes whose credential had arrived and which nobody
// was shown: they are lost answers, which end with their lease.
func (m *model) crashed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range m.w.leak.delivered() {
		if m.shown[id] == nil {
			m.excused[id] = true
		}
	}
}

// check judges everything that happened since the last check.
func (m *model) check() []string {
	truth := m.w.Sandboxd.Truth(sandboxdsim.EventFilter{After: m.lastEvent})
	rows := m.w.rows()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range truth.Events {
		m.lastEvent = max(m.lastEvent, e.Seq)
		if e.Type == sandboxdsim.EventReleased {
			m.judgeRelease(e)
		}
	}
	if rows != nil {
		for _, vm := range truth.VMs {
			m.judgeCredential(vm, rows)
		}
	}
	m.w.leak.mu.Lock()
	for _, text := range m.w.leak.found {
		m.violate(8, "a token left the daemon: %s", text)
	}
	m.w.leak.mu.Unlock()
	out := m.violations
	m.violations = nil
	return out
}

// judgeRelease: a sandbox that somebody used is destroyed when its authority
// allows it, or when a Pod of another authority has taken its name since.
func (m *model) judgeRelease(e sandboxdsim.Event) {
	s := m.shown[e.Sandbox]
	if s == nil {
		return
	}
	if m.w.API.Releasable(s.key, s.authority) {
		return
	}
	had := m.authority[s.key]
	if i := slices.Index(had, s.authority); slices.ContainsFunc(had[i:], func(a types.UID) bool { return a != s.authority }) {
		return
	}
	m.violate(1, "sandbox %s of %s was destroyed by its %s while %s is alive", e.Sandbox, s.key, e.By, s.authority)
}

// judgeCredential: while a sandbox lives, the credential that arrived for it
// is in the table.
func (m *model) judgeCredential(vm sandboxdsim.VM, rows map[string]bool) {
	if vm.State == sandboxdsim.StateWarm || rows[vm.ID] || m.excused[vm.ID] {
		return
	}
	if slices.Contains(m.w.leak.delivered(), vm.ID) {
		m.violate(2, "sandbox %s of %s is alive and its credential is gone", vm.ID, vm.ClaimRef)
	}
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
func (w *World) alive() map[string]sandboxdsim.VM {
	out := map[string]sandboxdsim.VM{}
	for _, vm := range w.Sandboxd.Truth(sandboxdsim.EventFilter{After: 1 << 62}).VMs {
		if vm.State != sandboxdsim.StateWarm {
			out[vm.ID] = vm
		}
	}
	return out
}

// unexpired reports whether the daemon takes the key's lease for running.
func (m *model) unexpired(key string) bool {
	c, ok := m.w.Table().Get(key)
	return ok && c.State == claims.Bound && !c.Expired(time.Now())
}

// lives reports whether the node has the sandbox.
func (w *World) lives(id string) bool {
	_, ok := w.alive()[id]
	return ok
}

// settled judges the end of a history, when every fault has been lifted for
// long enough.
func (m *model) settled() []string {
	out := m.check()
	alive := m.w.alive()
	for key, pod := range m.w.API.Pods() {
		_, lives := alive[podcontract.PublishedClaim(pod)]
		switch {
		case pod.DeletionTimestamp != nil:
			out = append(out, fmt.Sprintf("liveness: %s is still being deleted", key))
		case pod.Status.Phase == corev1.PodRunning && lives, pod.Status.Phase == corev1.PodFailed && !lives:
		case pod.Status.Phase == corev1.PodRunning && m.unexpired(key):
			// It died before the lease that the daemon knows of: that is
			// reported by the audit, and ends the Pod with the lease.
		default:
			out = append(out, fmt.Sprintf("liveness: %s is %s (%s: %s), its sandbox lives: %v", key, pod.Status.Phase, pod.Status.Reason, pod.Status.Message, lives))
		}
	}
	for _, c := range m.w.Table().Releasing() {
		out = append(out, fmt.Sprintf("liveness: %s of %s is not released", c.ID, c.Key))
	}
	for _, c := range m.w.Table().List() {
		pod := m.w.API.Pod(c.Key)
		over := pod != nil && pod.UID == c.PodUID && pod.Status.Phase == corev1.PodFailed
		_, lives := alive[c.ID]
		// A credential outlives its sandbox until the lease is over, because an index
		// can be wrong; the daemon has nothing to show for such a claim.
		kept := c.State == claims.Quarantined && (over || !lives && pod == nil)
		if (c.State == claims.Quarantined && !kept) || c.State == claims.Tentative {
			out = append(out, fmt.Sprintf("liveness: %s of %s is still %s", c.ID, c.Key, c.State))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.shown {
		if _, lives := alive[id]; lives && m.w.API.Releasable(s.key, s.authority) {
			out = append(out, fmt.Sprintf("liveness: sandbox %s of %s lives, and nobody wants it any more", id, s.key))
		}
	}
	return out
}
