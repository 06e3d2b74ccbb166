// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// Recorder records events; client-go's event recorder is one.
type Recorder interface {
	Event(object runtime.Object, eventType, reason, message string)
}

// The reasons of this provider's events. Their messages are constant texts, so
// that equal events are aggregated; names and ids are those of the object.
const (
	eventClaimed   = "SandboxClaimed"
	eventAdopted   = "SandboxAdopted"
	eventPreserved = "SandboxPreserved"
	eventReleased  = "SandboxReleased"
	eventRefused   = "SandboxRefused"
	eventAddress   = "SandboxAddressUnusable"
)

const (
	messageClaimed  = "claimed a sandbox for the pod"
	messageAdopted  = "the pod adopted the sandbox that was kept for its name and owner"
	messageAddress  = "the pod has no address: "
	messageKeptLost = "the node no longer has the sandbox that was kept for this pod; claiming a new one"
)

// subject is what a claim's events are about: the Pod, and its controller owner
// unless it is a bare Pod.
type subject struct {
	pod   corev1.ObjectReference
	owner *corev1.ObjectReference
}

func subjectOfPod(pod *corev1.Pod) subject {
	return newSubject(pod.Namespace, pod.Name, claims.Holder{PodUID: pod.UID, Controller: controllerOf(pod)})
}

func subjectOfClaim(c claims.Claim) subject {
	namespace, name, _ := strings.Cut(c.Key, "/")
	owner := c.Controller
	if c.Owner != nil {
		owner = c.Owner
	}
	return newSubject(namespace, name, claims.Holder{PodUID: c.PodUID, Controller: owner})
}

func newSubject(namespace, name string, h claims.Holder) subject {
	s := subject{pod: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name, UID: h.PodUID}}
	if o := h.Controller; o != nil {
		s.owner = &corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: namespace, Name: o.Name, UID: o.UID}
	}
	return s
}

// record tells both the Pod and its owner what has happened.
func (p *Provider) record(s subject, eventType, reason, message string) {
	p.recorder.Event(&s.pod, eventType, reason, message)
	if s.owner != nil {
		p.recorder.Event(s.owner, eventType, reason, message)
	}
}

// recordPreserved and recordReleased tell the verdict's reason.
func (p *Provider) recordPreserved(c claims.Claim, d ownership.Decision) {
	p.record(subjectOfClaim(c), corev1.EventTypeNormal, eventPreserved, "the pod is gone and its sandbox is kept: "+d.Reason)
}

func (p *Provider) recordReleased(c claims.Claim, reason string) {
	p.record(subjectOfClaim(c), corev1.EventTypeNormal, eventReleased, "the sandbox is released: "+reason)
}

// recordRefused tells the owner why its Pod is not served. The Pod hears it
// from virtual-kubelet, whose event for a failed create has the same text.
func (p *Provider) recordRefused(pod *corev1.Pod, err error) {
	if s := subjectOfPod(pod); s.owner != nil {
		p.recorder.Event(s.owner, corev1.EventTypeWarning, eventRefused, "the pod is not served: "+err.Error())
	}
}
