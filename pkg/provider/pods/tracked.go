// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// Tracked is a Pod that this node serves, or that waits for its claim.
type Tracked struct {
	// Pod is shared with the cache or with virtual-kubelet. Do not modify it.
	Pod *corev1.Pod
	// Gone is set once the Pod has left the API.
	Gone *Departure
	// RemovalRequested is true once the removal of the deleted Pod was requested.
	RemovalRequested bool
	// End is set once the Pod has ended. Its status stays terminal from then on.
	End *Ending
	// Notified is true once virtual-kubelet has received a status of the Pod.
	Notified bool
	// Waiting is why the Pod has no claim yet, for Pods that virtual-kubelet does not
	// retry. It is empty until the node has tried to get a claim.
	Waiting string
}

// Departure is how a Pod left the API.
type Departure struct {
	// Final is the newest object of the Pod that was seen.
	Final *corev1.Pod
	// Seen is true if the deletion was seen. A list without the Pod does not prove a
	// deletion.
	Seen bool
}

// Ending is how a Pod ended.
type Ending struct {
	Binding podstatus.Binding
	Reason  string
	Message string
	At      time.Time
	// Deleted is true if the Pod was deleted and its claim is decided, false if its
	// sandbox is gone.
	Deleted bool
}

// Ended reports whether the Pod with that newest object has ended. A Pod that is no
// longer being deleted, as after the restore of a backup, has not ended.
func (t Tracked) Ended(newest *corev1.Pod) bool {
	return t.End != nil && (!t.End.Deleted || newest.DeletionTimestamp != nil)
}
