// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// imageIDPrefix precedes the claim id in a container status's imageID.
const imageIDPrefix = "sandboxd://"

// Binding is the part of a claim that a Pod's status shows.
type Binding struct {
	// ClaimID is sandboxd's id of the claim.
	ClaimID string
	// Address is sandboxd's address of the sandbox, normally a host:port. If it contains
	// no IP address, the status has none; see [AddressProblem].
	Address string
	// ClaimedAt is when the claim was taken; it is the Pod's start time.
	ClaimedAt time.Time
}

// Pending is the status of a tracked Pod without a claim, before there is anything to
// publish.
func Pending() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending}
}

// Awaiting is the status of a Pod that waits for its claim; why says what is missing.
func Awaiting(pod *corev1.Pod, why string) corev1.PodStatus {
	return Unclaimed(pod, corev1.PodStatus{Phase: corev1.PodPending, Reason: ReasonAwaitingClaim, Message: why})
}

// Unclaimed completes the status of a Pod that has no sandbox: phase, reason and message
// are kept, and everything that clients wait for is there. The conditions have no time:
// the caller does not know since when they are False.
func Unclaimed(pod *corev1.Pod, status corev1.PodStatus) corev1.PodStatus {
	status.ObservedGeneration = pod.Generation
	status.Conditions = conditions(pod, metav1.Time{})
	setFalse(status.Conditions, status.Reason, metav1.Time{},
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady)
	status.EphemeralContainerStatuses = ephemeralContainers(pod)
	return status
}

// Running is the status of a Pod that holds a claim. It depends on the binding, the Pod's
// spec and the published conditions of its readiness gates only, with times truncated to
// seconds as the API stores them, so that two calls for one claim are equal and published
// once.
func Running(pod *corev1.Pod, b Binding) corev1.PodStatus {
	start := metav1.NewTime(b.ClaimedAt.UTC().Truncate(time.Second))
	status := corev1.PodStatus{
		ObservedGeneration: pod.Generation,
		Phase:              corev1.PodRunning,
		StartTime:          &start,
		Conditions:         conditions(pod, start),

		InitContainerStatuses:      initContainers(pod, b.ClaimID, start),
		ContainerStatuses:          containers(pod, b.ClaimID, start),
		EphemeralContainerStatuses: ephemeralContainers(pod),
	}
	if ip := hostIP(b.Address); ip != "" {
		status.HostIP, status.HostIPs = ip, []corev1.HostIP{{IP: ip}}
		status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	return status
}

// Failed is the terminal status of a Pod whose sandbox is gone, as of at. Phase,
// conditions and container states change together, because nothing can be published after
// a terminal phase.
func Failed(pod *corev1.Pod, b Binding, reason, message string, at time.Time) corev1.PodStatus {
	ended := metav1.NewTime(at.UTC().Truncate(time.Second))
	status := Running(pod, b)
	status.Phase, status.Reason, status.Message = corev1.PodFailed, reason, message
	setFalse(status.Conditions, reason, ended, corev1.PodReadyToStartContainers, corev1.PodReady, corev1.ContainersReady)
	end(status.ContainerStatuses, reason, message, ended)
	end(status.InitContainerStatuses, reason, message, ended)
	return status
}

// ClaimID returns the claim id in the Pod's own status; empty if this provider never
// published a claim for the Pod. The annotation is ignored, because a template can carry
// it over from an older Pod.
func ClaimID(pod *corev1.Pod) string {
	for _, c := range pod.Status.ContainerStatuses {
		if id, ok := strings.CutPrefix(c.ImageID, imageIDPrefix); ok {
			return id
		}
	}
	return ""
}
