// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status builds the statuses of the Pods that this node serves, and hands them to
// virtual-kubelet.
package status

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// publishers bounds concurrent callbacks. virtual-kubelet's callback can block for
// seconds on a Pod that it does not know yet, and must not delay others.
const publishers = 16

// Table reads the claims that statuses are built from.
type Table interface {
	Get(key string) (claims.Claim, bool)
}

// Pods are the Pods that have a status.
type Pods interface {
	Get(key string) (pods.Tracked, bool)
	// Cached returns the newest known object of a Pod; nil if it is not known.
	Cached(key string, uid types.UID) *corev1.Pod
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

// NewManager returns a Manager. shows reports whether the API server is known to have the
// status and the claim id of a Pod. Nothing is published before [Manager.Run].
func NewManager(table Table, served Pods, shows func(*corev1.Pod) bool) *Manager {
	return &Manager{table: table, pods: served, shows: shows, changed: workqueue.NewTyped[string]()}
}

// PublishTo sets the callback that takes the statuses.
func (m *Manager) PublishTo(publish func(*corev1.Pod)) { m.publish.Store(&publish) }

// Enqueue requests that the Pod's status be published. It never blocks.
func (m *Manager) Enqueue(key string) { m.changed.Add(key) }

// QueueLen is the number of Pods whose status waits to be published.
func (m *Manager) QueueLen() int { return m.changed.Len() }

// Run publishes the current status of each enqueued Pod until ctx ends. The status is
// built from the table here, not where the change was seen, so that a change of an old
// claim cannot reach a newer Pod of the same name.
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

// publishPod hands the Pod's status to virtual-kubelet. A Pod without a status is
// skipped: Pending without a reason would overwrite the status of a Pod whose claim
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
		// The API server already has most statuses after a restart. Once virtual-kubelet
		// has received another status, that one may still be on its way to the API.
	default:
		// virtual-kubelet keeps the object while the Pod lives, and uses only its status
		// and metadata.
		pod.Spec = corev1.PodSpec{}
		m.pods.MarkNotified(key)
		(*publish)(pod)
	}
}
