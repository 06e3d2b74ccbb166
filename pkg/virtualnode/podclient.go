// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// podsGetter gives the pod controller its Pod client. Only UpdateStatus is
// ours; deletes pass through, the library's carry a UID precondition.
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

// UpdateStatus publishes the status of pod, and its claim-id annotation, as a
// patch of pods/status. The library's own way, a PUT of the whole Pod, would
// revert labels, annotations and finalizers that others have set meanwhile.
//
// Nothing is sent, and no error returned, when nothing changed and when the
// status has no Pod to go to: the Pod is gone, was replaced by another of the
// same name, or has reached a terminal phase, which is never taken back.
func (c *podClient) UpdateStatus(ctx context.Context, pod *corev1.Pod, _ metav1.UpdateOptions) (*corev1.Pod, error) {
	logger := klog.FromContext(ctx).WithValues("pod", klog.KRef(c.namespace, pod.Name), "podUID", pod.UID)
	base, err := c.published.get(c.namespace, pod.Name)
	switch {
	case err != nil:
		return nil, err
	case base == nil:
		logger.V(2).Info("Status dropped: the Pod is gone")
		return pod, nil
	case base.UID != pod.UID:
		logger.V(2).Info("Status dropped: the Pod was replaced", "currentUID", base.UID)
		return pod, nil
	case base.Status.Phase == corev1.PodFailed || base.Status.Phase == corev1.PodSucceeded:
		logger.V(2).Info("Status dropped: the Pod has ended", "phase", base.Status.Phase)
		return base, nil
	}

	patch, err := statusPatch(base, pod)
	if err != nil {
		return nil, err
	}
	if patch == nil {
		return base, nil
	}
	patched, err := c.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err) || isOtherPod(err):
		logger.V(2).Info("Status dropped: the Pod is gone or was replaced", "err", err)
		return pod, nil
	case err != nil:
		return nil, fmt.Errorf("patch the pod's status: %w", err)
	}
	c.published.note(patched)
	return patched, nil
}

// isOtherPod tells that the patch met a Pod of another UID. The API server
// treats the UID in a patch as an attempt to change it, and refuses that as
// invalid; a write conflict has a code of its own and is worth another attempt.
func isOtherPod(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
