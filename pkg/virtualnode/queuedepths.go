// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

// Queue names one of the pod controller's queues.
type Queue string

// The queues.
const (
	// PodSync has Pods to create or update.
	PodSync Queue = "pod_sync"
	// PodDelete has Pods to delete.
	PodDelete Queue = "pod_delete"
	// PodStatus has Pods whose status is to be written.
	PodStatus Queue = "pod_status"
)

// Queues returns every queue.
func Queues() []Queue { return []Queue{PodSync, PodDelete, PodStatus} }

// QueueDepths returns the number of Pods in each queue, including those in work and those
// waiting for their next attempt. It is nil before the pod controller exists.
func (v *VirtualNode) QueueDepths() map[Queue]int {
	c := v.controller.Load()
	if c == nil {
		return nil
	}
	return map[Queue]int{
		PodSync:   c.SyncPodsFromKubernetesQueueLen(),
		PodDelete: c.DeletePodsFromKubernetesQueueLen(),
		PodStatus: c.SyncPodStatusFromProviderQueueLen(),
	}
}
