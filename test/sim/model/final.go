// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// lastCheck is the longest time from the end of all faults, or of a hold, to the check of
// a claim without a Pod.
const lastCheck = MissingOwnersHold + 11*time.Minute

// CheckFinal returns the violations at the end of a history, after all faults but
// the lasting ones have been lifted for long enough: everything must have finished.
func (m *Model) CheckFinal() []string {
	out := m.Check()
	alive := m.VMs()
	for key, pod := range m.API.Pods() {
		id := podstatus.ClaimID(pod)
		_, lives := alive[id]
		switch {
		case m.unanswerable(key, id):
		case apiserver.Lingers(pod):
			if !apiserver.Terminal(pod) || !apiserver.NotReady(pod) {
				out = append(out, fmt.Sprintf("liveness: %s has ended and is kept by a finalizer as %s, not ready: %v", key, pod.Status.Phase, apiserver.NotReady(pod)))
			}
		case pod.DeletionTimestamp != nil:
			out = append(out, fmt.Sprintf("liveness: %s is still being deleted", key))
		case pod.Status.Phase == corev1.PodRunning && lives, pod.Status.Phase == corev1.PodFailed && !lives:
		case pod.Status.Phase == corev1.PodFailed && m.indexMisled[id]:
		case pod.Status.Reason == podstatus.ReasonDeleted && m.restores.undone[pod.UID]:
			// The restore came while the terminal status was being written.
		case pod.Status.Phase == corev1.PodRunning && m.leaseEndDoubted(key):
		case pod.Status.Phase == corev1.PodRunning && m.unexpired(key):
			// The sandbox died before its known lease. The orphan scan reports
			// that, and the Pod ends with the lease.
		default:
			out = append(out, fmt.Sprintf("liveness: %s is %s (%s: %s), its sandbox lives: %v", key, pod.Status.Phase, pod.Status.Reason, pod.Status.Message, lives))
		}
	}
	return append(append(out, m.unfinishedRows(alive)...), m.unwantedVMs(alive)...)
}

// unfinishedRows reports claims that should have been released or confirmed.
func (m *Model) unfinishedRows(alive map[string]history.VM) (out []string) {
	for _, c := range m.Host.Table().Releasing() {
		if !m.unanswerable(c.Key, c.ID) {
			out = append(out, fmt.Sprintf("liveness: %s of %s is not released", c.ID, c.Key))
		}
	}
	for _, c := range m.Host.Table().List() {
		pod := m.API.Pod(c.Key)
		ended := pod != nil && pod.UID == c.PodUID && pod.Status.Phase == corev1.PodFailed
		_, lives := alive[c.ID]
		// A credential is kept until its lease ends even without a sandbox, because
		// the index can be wrong. Such a claim without a Pod may stay quarantined.
		wanted := pod != nil && (pod.UID == c.PodUID || !apiserver.Terminal(pod))
		waits := c.State == claims.Quarantined && (lives || wanted) || c.State == claims.Tentative
		if waits && !ended && !m.unanswerable(c.Key, c.ID) {
			out = append(out, fmt.Sprintf("liveness: %s of %s is still %s", c.ID, c.Key, c.State))
		}
		if unadoptable := c.Unadoptable() && !c.PodDeletedAt.IsZero() && lives && pod == nil; unadoptable && time.Since(c.PodDeletedAt) > UnadoptableGrace+lastCheck && !m.unanswerable(c.Key, c.ID) {
			out = append(out, fmt.Sprintf("liveness: %s of %s, which no pod can adopt, lives", c.ID, c.Key))
		}
	}
	return out
}

// unwantedVMs reports living sandboxes that every authority allows to be released.
func (m *Model) unwantedVMs(alive map[string]history.VM) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.shown {
		// A Pod can adopt a sandbox and disappear before it is shown.
		holder, _ := m.Host.Table().Get(s.key)
		if _, lives := alive[id]; lives && m.allReleasable(s.pod) && (holder.ID != id || m.allReleasable(holder.PodUID)) {
			out = append(out, fmt.Sprintf("liveness: sandbox %s of %s lives, although it may be released", id, s.key))
		}
	}
	return out
}

// unanswerable reports whether a lasting fault fails every read of the sandbox, or of
// the one that holds the key.
func (m *Model) unanswerable(key, id string) bool {
	c, _ := m.Host.Table().Get(key)
	for _, f := range m.Host.LastingFaults() {
		for _, s := range f.Sandboxes {
			if f.Endpoint == "get" && (s == id || s == c.ID) {
				return true
			}
		}
	}
	return false
}
