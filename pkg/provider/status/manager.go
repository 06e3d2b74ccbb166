// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status makes the statuses of the Pods that this node serves, and hands them
// to virtual-kubelet.
package status

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// publishers is how many statuses are handed over at once. virtual-kubelet's callback
// can block for seconds on a Pod that it does not know yet, and must not delay the
// others.
const publishers = 16

// Table is what a status is made from.
type Table interface {
	Get(key string) (claims.Claim, bool)
}

// Pods are the Pods that have a status.
type Pods interface {
	Get(key string) (pods.Tracked, bool)
	MarkNotified(key string)
}

// Manager publishes the statuses of Pods. It is safe for concurrent use.
type Manager struct {
	table Table
	pods  Pods
	shows func(*corev1.Pod) bool
	// changed has the keys of Pods whose status is to be published.
	changed workqueue.TypedInterface[string]
	publish atomic.Pointer[func(*corev1.Pod)]
}

// NewManager returns a Manager. shows reports whether the API server has the status
// and the claim id of a Pod already, as far as is known. Nothing is published before
// [Manager.Run].
func NewManager(table Table, served Pods, shows func(*corev1.Pod) bool) *Manager {
	return &Manager{table: table, pods: served, shows: shows, changed: workqueue.NewTyped[string]()}
}

// PublishTo sets the callback that takes the statuses.
func (m *Manager) PublishTo(publish func(*corev1.Pod)) { m.publish.Store(&publish) }

// Enqueue asks for the Pod's status to be published. It never blocks.
func (m *Manager) Enqueue(key string) { m.changed.Add(key) }

// QueueLen is how many Pods wait for their status to be published.
func (m *Manager) QueueLen() int { return m.changed.Len() }

// Run publishes the status that each enqueued Pod has at that moment, until ctx ends.
// The status is made from the table here, not where the change was seen, so a change
// of an old claim cannot reach the Pod that has taken its name since.
func (m *Manager) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for {
				key, quit := m.changed.Get()
				if quit {
					return
				}
				m.publishPod(key)
				m.changed.Done(key)
			}
		})
	}
	<-ctx.Done()
	m.changed.ShutDown()
	wg.Wait()
}

// publishPod hands the Pod's status to virtual-kubelet. A Pod without a status is left
// alone: Pending without a reason would overwrite the status of a Pod whose claim
// sandboxd has not confirmed yet.
func (m *Manager) publishPod(key string) {
	t, ok := m.pods.Get(key)
	publish := m.publish.Load()
	if !ok || publish == nil {
		return
	}
	pod := m.View(t)
	switch {
	case !hasStatus(pod.Status):
	case !t.Notified && m.shows(pod):
		// After a restart most Pods are so. Once virtual-kubelet was handed another
		// status, that one may be on its way to the API.
	default:
		// virtual-kubelet keeps the object for as long as the Pod lives, and uses
		// only its status and metadata.
		pod.Spec = corev1.PodSpec{}
		m.pods.MarkNotified(key)
		(*publish)(pod)
	}
}
