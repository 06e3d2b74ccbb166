// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	stateNotRun       = "NotRun"
	messageInitNotRun = "init containers are not run: the microVM starts from its template"
	// MessageDebugNotRun is why a Pod's ephemeral containers are not run.
	MessageDebugNotRun = "debug containers are not run: the Pod is a microVM without containers; reach it through the sandbox SDK or its preview URL"

	// exitKilled is the exit code of containers that ended with their sandbox, and
	// exitNotStarted that of a container that could not be started.
	exitKilled, exitNotStarted = 137, 128
)

// restartable reports whether the init container is a sidecar, which runs beside the
// containers.
func restartable(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// running is the status of a container that the sandbox stands for.
func running(c *corev1.Container, claimID string, since metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:    c.Name,
		Image:   c.Image,
		ImageID: imageIDPrefix + claimID,
		Ready:   true,
		Started: new(true),
		State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
	}
}

func containers(pod *corev1.Pod, claimID string, since metav1.Time) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for i := range pod.Spec.Containers {
		all = append(all, running(&pod.Spec.Containers[i], claimID, since))
	}
	return all
}

// initContainers returns the sidecars as running. The other init containers are shown as
// finished without an error, so that clients count the Pod as initialized, but with a
// reason of their own.
func initContainers(pod *corev1.Pod, claimID string, since metav1.Time) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if restartable(c) {
			all = append(all, running(c, claimID, since))
			continue
		}
		status := notRun(c.Name, c.Image, 0, messageInitNotRun)
		status.Ready = true
		all = append(all, status)
	}
	return all
}

// ephemeralContainers returns the containers of kubectl debug as ended. While one waits,
// kubectl waits too.
func ephemeralContainers(pod *corev1.Pod) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		all = append(all, notRun(c.Name, c.Image, exitNotStarted, MessageDebugNotRun))
	}
	return all
}

// notRun is the status of a container that never ran, and so has no times.
func notRun(name, image string, exitCode int32, why string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:    name,
		Image:   image,
		Started: new(false),
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Reason: stateNotRun, Message: why,
		}},
	}
}

// end changes the running containers to ended ones.
func end(all []corev1.ContainerStatus, reason, message string, at metav1.Time) {
	for i := range all {
		c := &all[i]
		if c.State.Running == nil {
			continue
		}
		c.Ready, c.Started = false, new(false)
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitKilled, Reason: reason, Message: message,
			StartedAt: c.State.Running.StartedAt, FinishedAt: at,
		}}
	}
}
