// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// settled judges the end of a history, when every fault has been lifted for
// long enough, except those that must not keep anything else from its end.
func (m *model) settled() []string {
	out := m.check()
	alive := m.w.alive()
	for key, pod := range m.w.API.Pods() {
		id := podstatus.ClaimID(pod)
		_, lives := alive[id]
		switch {
		case m.unanswerable(key, id):
		case lingers(pod):
			if !terminal(pod) || !notReady(pod) {
				out = append(out, fmt.Sprintf("liveness: %s is settled, and lingers with a finalizer as %s, not ready: %v", key, pod.Status.Phase, notReady(pod)))
			}
		case pod.DeletionTimestamp != nil:
			out = append(out, fmt.Sprintf("liveness: %s is still being deleted", key))
		case pod.Status.Phase == corev1.PodRunning && lives, pod.Status.Phase == corev1.PodFailed && !lives:
		case pod.Status.Phase == corev1.PodFailed && m.misled[id]:
		case pod.Status.Reason == podstatus.ReasonDeleted && m.restores.undone[pod.UID]:
			// The status that ended it was on its way when the restore came.
		case pod.Status.Phase == corev1.PodRunning && m.unexpired(key):
			// It died before the lease that the daemon knows of: that is
			// reported by the audit, and ends the Pod with the lease.
		default:
			out = append(out, fmt.Sprintf("liveness: %s is %s (%s: %s), its sandbox lives: %v", key, pod.Status.Phase, pod.Status.Reason, pod.Status.Message, lives))
		}
	}
	return append(append(out, m.rowsSettled(alive)...), m.unwantedSettled(alive)...)
}

func (m *model) rowsSettled(alive map[string]history.VM) (out []string) {
	for _, c := range m.w.Table().Releasing() {
		if !m.unanswerable(c.Key, c.ID) {
			out = append(out, fmt.Sprintf("liveness: %s of %s is not released", c.ID, c.Key))
		}
	}
	for _, c := range m.w.Table().List() {
		pod := m.w.API.Pod(c.Key)
		over := pod != nil && pod.UID == c.PodUID && pod.Status.Phase == corev1.PodFailed
		_, lives := alive[c.ID]
		// A credential outlives its sandbox until the lease is over, because an index
		// can be wrong, and a claim that nobody asks for has nothing to wait for.
		wanted := pod != nil && (pod.UID == c.PodUID || !terminal(pod))
		waits := c.State == claims.Quarantined && (lives || wanted) || c.State == claims.Tentative
		if waits && !over && !m.unanswerable(c.Key, c.ID) {
			out = append(out, fmt.Sprintf("liveness: %s of %s is still %s", c.ID, c.Key, c.State))
		}
	}
	return out
}

func (m *model) unwantedSettled(alive map[string]history.VM) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.shown {
		// A Pod that adopted it may have gone before it was shown.
		holder, _ := m.w.Table().Get(s.key)
		if _, lives := alive[id]; lives && m.unwanted(s.pod) && (holder.ID != id || m.unwanted(holder.PodUID)) {
			out = append(out, fmt.Sprintf("liveness: sandbox %s of %s lives, and nobody wants it any more", id, s.key))
		}
	}
	return out
}

// unanswerable reports whether sandboxd has been made to answer no question about
// the sandbox, or about the one that holds the key.
func (m *model) unanswerable(key, id string) bool {
	c, _ := m.w.Table().Get(key)
	for _, f := range m.w.lasting {
		for _, s := range f.Sandboxes {
			if f.Endpoint == "get" && (s == id || s == c.ID) {
				return true
			}
		}
	}
	return false
}
