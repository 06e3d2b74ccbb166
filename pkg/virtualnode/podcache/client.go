// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// statusAttempts bounds how often one call sends a status that meets a changed Pod. After
// that the queue's back-off applies, so that a Pod that is edited continuously costs less
// and less.
const statusAttempts = 5

// reasonFailedCreate is the status reason of a failed create, the only status that the
// library builds itself.
const reasonFailedCreate = "ProviderFailed"

// Client returns the client through which the pod controller writes Pods. It publishes
// statuses as patches; all other calls go to inner unchanged. The library's deletes have
// their own UID precondition.
func (p *Informer) Client(inner corev1client.PodsGetter) corev1client.PodsGetter {
	return podsGetter{inner, p.published}
}

type podsGetter struct {
	corev1client.PodsGetter
	published *publishedPods
}

// Pods implements corev1client.PodsGetter.
func (g podsGetter) Pods(namespace string) corev1client.PodInterface {
	return &podClient{PodInterface: g.PodsGetter.Pods(namespace), namespace: namespace, published: g.published}
}

type podClient struct {
	corev1client.PodInterface
	namespace string
	published *publishedPods
}

// UpdateStatus publishes the status of pod, and its claim-id annotation, as a patch of
// pods/status. The library's PUT of the whole Pod would revert labels, annotations and
// finalizers that others have set meanwhile.
//
// Nothing is sent, and no error returned, if nothing changed, or if the Pod is gone, was
// replaced by another of the same name, or has a terminal phase, which is never reverted.
// The API server refuses the patch of a Pod that has changed since, because the change
// may have ended it. The status is then compared with the newer Pod as soon as the watch
// shows it. A conflict so costs one request here; in the queue, the library would log it
// as an error, and would not retry the report of a failed create.
func (c *podClient) UpdateStatus(ctx context.Context, pod *corev1.Pod, _ metav1.UpdateOptions) (*corev1.Pod, error) {
	for attempt := 1; ; attempt++ {
		written, base, err := c.tryStatus(ctx, pod)
		if !apierrors.IsConflict(err) || attempt == statusAttempts {
			return written, err
		}
		klog.FromContext(ctx).V(2).Info("Status is compared again: the Pod has changed", "pod", klog.KObj(pod), "podUID", pod.UID)
		if !c.published.awaitNewer(ctx, base) {
			return nil, err
		}
	}
}

// tryStatus sends the status at most once, and returns the Pod that it was compared with.
func (c *podClient) tryStatus(ctx context.Context, pod *corev1.Pod) (written, base *corev1.Pod, err error) {
	logger := klog.FromContext(ctx).WithValues("pod", klog.KRef(c.namespace, pod.Name), "podUID", pod.UID)
	base, err = c.published.get(types.NamespacedName{Namespace: c.namespace, Name: pod.Name})
	switch {
	case err != nil:
		return nil, nil, err
	case base == nil:
		logger.V(2).Info("Status dropped: the Pod is gone")
		return pod, nil, nil
	case base.UID != pod.UID:
		logger.V(2).Info("Status dropped: the Pod was replaced", "currentUID", base.UID)
		return pod, base, nil
	case base.Status.Phase == corev1.PodFailed || base.Status.Phase == corev1.PodSucceeded:
		logger.V(2).Info("Status dropped: the Pod has ended", "phase", base.Status.Phase)
		return base, base, nil
	}

	if pod.Status.Reason == reasonFailedCreate {
		// The library changes the published status, which may still be that of a Pod that
		// ran.
		pod = copyPod(pod)
		pod.Status = podstatus.Unclaimed(base, pod.Status)
	}
	patch, err := statusPatch(base, pod, time.Now())
	if err != nil {
		return nil, base, err
	}
	if patch == nil {
		return base, base, nil
	}
	patched, err := c.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err) || isOtherPod(err):
		logger.V(2).Info("Status dropped: the Pod is gone or was replaced", "err", err)
		return pod, base, nil
	case err != nil:
		return nil, base, fmt.Errorf("patch the pod's status: %w", err)
	}
	c.published.note(patched)
	return patched, base, nil
}

// isOtherPod reports whether the patch met a Pod of another UID. The API server refuses a
// different UID in a patch as an invalid change, unless it refuses the version first, as
// a conflict.
func isOtherPod(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
