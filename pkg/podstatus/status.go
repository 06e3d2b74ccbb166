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

// Pending is the status of a tracked Pod without a claim.
func Pending() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending}
}

// Running is the status of a Pod that holds a claim. It depends on the Pod's spec and the
// binding only, with times truncated to seconds as the API stores them, so that two calls
// for one claim are equal and published once.
func Running(pod *corev1.Pod, b Binding) corev1.PodStatus {
	start := metav1.NewTime(b.ClaimedAt.UTC().Truncate(time.Second))
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start}
	if ip := hostIP(b.Address); ip != "" {
		status.HostIP, status.HostIPs = ip, []corev1.HostIP{{IP: ip}}
		status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.PodScheduled} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: start,
		})
	}
	started := true
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name:    c.Name,
			Image:   c.Image,
			ImageID: imageIDPrefix + b.ClaimID,
			Ready:   true,
			Started: &started,
			State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}},
		})
	}
	return status
}

// Failed is the terminal status of a Pod whose sandbox is gone, as of at. Phase and
// container states change together, because nothing can be published after a terminal
// phase.
func Failed(pod *corev1.Pod, b Binding, reason, message string, at time.Time) corev1.PodStatus {
	end := metav1.NewTime(at.UTC().Truncate(time.Second))
	status := Running(pod, b)
	status.Phase, status.Reason, status.Message = corev1.PodFailed, reason, message
	for i := range status.Conditions {
		c := &status.Conditions[i]
		if c.Type == corev1.PodReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, reason, end
		}
	}
	started := false
	for i := range status.ContainerStatuses {
		c := &status.ContainerStatuses[i]
		c.Ready, c.Started = false, &started
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: reason, Message: message,
			StartedAt: *status.StartTime, FinishedAt: end,
		}}
	}
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
