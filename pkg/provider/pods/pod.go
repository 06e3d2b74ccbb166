// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// NameOf is the name in a Pod key, <namespace>/<name>.
func NameOf(key string) types.NamespacedName {
	namespace, name, _ := strings.Cut(key, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// Terminal reports whether the phase of the object is final.
func Terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// HolderOf is the Pod as the table records it.
func HolderOf(pod *corev1.Pod) claims.Holder {
	controller := ControllerOf(pod)
	return claims.Holder{PodUID: pod.UID, Controller: controller, RandomName: randomName(pod, controller)}
}

// ControllerOf is the Pod's controller owner; nil for a bare Pod.
func ControllerOf(pod *corev1.Pod) *claims.Owner {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	return &claims.Owner{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID}
}

// BindingOf is the binding of a Pod that holds the claim.
func BindingOf(c claims.Claim) podstatus.Binding {
	return podstatus.Binding{ClaimID: c.ID, Address: c.Address, ClaimedAt: c.ClaimedAt}
}

// PublishedBinding is the binding that the Pod's own status shows.
func PublishedBinding(pod *corev1.Pod) podstatus.Binding {
	return podstatus.Binding{ClaimID: podstatus.ClaimID(pod), Address: pod.Status.PodIP, ClaimedAt: startOf(pod)}
}

func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// WithLogger returns ctx with a logger that names the Pod.
func WithLogger(ctx context.Context, pod *corev1.Pod) context.Context {
	return klog.NewContext(ctx, klog.FromContext(ctx).WithValues("pod", klog.KObj(pod), "podUID", pod.UID))
}
