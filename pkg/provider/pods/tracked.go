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
	// Pod is shared with the cache or with virtual-kubelet, and not changed.
	Pod *corev1.Pod
	// Gone is set once the Pod has left the API.
	Gone *Departure
	// RemovalRequested is true once the removal of the deleted Pod was asked for.
	RemovalRequested bool
	// End is set once the Pod has ended. Its status stays terminal from then on.
	End *Ending
	// Notified is true once virtual-kubelet has been handed a status of the Pod.
	Notified bool
	// Waiting says why the Pod has no claim yet, where virtual-kubelet does not
	// know. It is empty until the node has tried to get a claim.
	Waiting string
}

// Departure is how a Pod left the API.
type Departure struct {
	// Final is the newest object of the Pod that was seen.
	Final *corev1.Pod
	// Seen is true when its deletion was seen. A list that lacks the Pod is no
	// deletion.
	Seen bool
}

// Ending is how a Pod ended.
type Ending struct {
	Binding podstatus.Binding
	Reason  string
	Message string
	At      time.Time
	// Deleted is true when the Pod was deleted and its claim is decided, and false
	// when its sandbox is gone.
	Deleted bool
}

// Ended reports whether the Pod, whose newest object is given, has ended. A deleted
// Pod that is not being deleted any more, as after the restore of a backup, has not.
func (t Tracked) Ended(newest *corev1.Pod) bool {
	return t.End != nil && (!t.End.Deleted || newest.DeletionTimestamp != nil)
}
