// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/status"
)

const messageDeleted = "the pod was deleted; its sandbox is no longer its own"

// endDeleted ends a Pod whose claim is decided. A Pod that has left the API is dropped. A
// Pod that a finalizer keeps becomes terminal, because its address may be reused. Any
// other Pod is about to be removed, and its status is not written.
func (d *Decider) endDeleted(pod *corev1.Pod, t pods.Tracked, c *claims.Claim) {
	key := podcontract.Key(pod)
	if pod.DeletionTimestamp == nil || !d.pods.InCache(pod) {
		d.pods.Drop(key)
		return
	}
	if t.End == nil {
		e := pods.Ending{Binding: pods.PublishedBinding(pod), Reason: podstatus.ReasonDeleted, Message: messageDeleted, At: time.Now(), Deleted: true}
		if c != nil {
			e.Binding = pods.BindingOf(*c)
		}
		d.pods.Track(pod)
		d.pods.MarkEnded(key, e)
	}
	ended, ok := d.pods.Get(key)
	if !ok || len(pod.Finalizers) == 0 {
		return
	}
	// A published status is not published again: the resulting event would call this
	// function again.
	if now, claimID := d.statuses.Status(ended); !status.Published(pod, now, claimID) {
		d.statuses.Enqueue(key)
	}
}

// removeFromAPI removes a Pod whose claim is decided from the API at once. Otherwise
// virtual-kubelet would wait for the whole grace period and delay a replacement of the
// same name.
func (d *Decider) removeFromAPI(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil || !d.pods.InCache(pod) {
		return
	}
	err := d.podClient.Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "a deleted pod could not be removed; it is removed when its grace period ends")
	}
}
