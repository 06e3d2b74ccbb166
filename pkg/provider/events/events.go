// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package events records what happens to a sandbox, on its Pod and on the Pod's
// controller owner. Messages are constant texts, so that equal events are aggregated;
// names and ids come from the event's object.
package events

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

// The reasons of the events. [podstatus.ReasonLost] and
// [podstatus.ReasonLeaseExpired] are reasons too.
const (
	ReasonClaimed   = "SandboxClaimed"
	ReasonAdopted   = "SandboxAdopted"
	ReasonPreserved = "SandboxPreserved"
	ReasonReleased  = "SandboxReleased"
	ReasonRefused   = "SandboxRefused"
	ReasonAddress   = "SandboxAddressUnusable"
	ReasonDebug     = "SandboxDebugRefused"

	ReasonUnadoptable = "SandboxUnadoptable"
	ReasonLeaseEnding = "SandboxLeaseEnding"
)

// Sink takes events; client-go's event recorder implements it.
type Sink interface {
	Event(object runtime.Object, eventType, reason, message string)
}

// Recorder records the events of this node's sandboxes.
type Recorder struct{ sink Sink }

// NewRecorder returns a Recorder that hands its events to sink.
func NewRecorder(sink Sink) *Recorder { return &Recorder{sink: sink} }

// Claimed records that the Pod has a new sandbox.
func (r *Recorder) Claimed(pod *corev1.Pod) {
	r.record(subjectOfPod(pod), corev1.EventTypeNormal, ReasonClaimed, "claimed a sandbox for the pod")
}

// AddressUnusable records why the Pod is published without an address.
func (r *Recorder) AddressUnusable(pod *corev1.Pod, problem string) {
	r.record(subjectOfPod(pod), corev1.EventTypeWarning, ReasonAddress, problem)
}

// DebugRefused records on the Pod that its new debug container is not run.
func (r *Recorder) DebugRefused(pod *corev1.Pod) {
	s := subjectOfPod(pod)
	r.sink.Event(&s.pod, corev1.EventTypeWarning, ReasonDebug, podstatus.MessageDebugNotRun)
}

// Adopted records that the Pod runs on a sandbox that another Pod left.
func (r *Recorder) Adopted(pod *corev1.Pod) {
	r.record(subjectOfPod(pod), corev1.EventTypeNormal, ReasonAdopted, "the pod adopted the sandbox that was kept for its name and owner")
}

// KeptSandboxLost records that the Pod has a new sandbox because the one kept for it is
// gone.
func (r *Recorder) KeptSandboxLost(pod *corev1.Pod) {
	r.record(subjectOfPod(pod), corev1.EventTypeWarning, podstatus.ReasonLost, "the node no longer has the sandbox that was kept for this pod; the pod has a new one")
}

// PodEnded records that the Pod ended because its sandbox is gone.
func (r *Recorder) PodEnded(pod *corev1.Pod, reason, message string) {
	r.record(subjectOfPod(pod), corev1.EventTypeWarning, reason, message)
}

// ClaimEnded records that the claim's sandbox is gone.
func (r *Recorder) ClaimEnded(c claims.Claim, reason, message string) {
	r.record(subjectOfClaim(c), corev1.EventTypeWarning, reason, message)
}

// Preserved records that the claim's Pod is gone, and why its sandbox is kept.
func (r *Recorder) Preserved(c claims.Claim, d ownership.Decision) {
	r.record(subjectOfClaim(c), corev1.EventTypeNormal, ReasonPreserved, "the pod is gone and its sandbox is kept: "+d.Reason)
}

// LeaseEnding warns that the lease of the claim's sandbox ends within ahead.
func (r *Recorder) LeaseEnding(c claims.Claim, ahead time.Duration) {
	r.record(subjectOfClaim(c), corev1.EventTypeWarning, ReasonLeaseEnding,
		"the lease of the sandbox ends in "+duration.HumanDuration(ahead)+" or less; if it is not extended, the node then destroys the sandbox, and the pod ends")
}

// Unadoptable records that no Pod can adopt the claim, whose sandbox is therefore released
// when it has been kept for the grace.
func (r *Recorder) Unadoptable(c claims.Claim, grace time.Duration) {
	r.record(subjectOfClaim(c), corev1.EventTypeWarning, ReasonUnadoptable,
		"no other pod will have the random name of this pod, and its sandbox is released after "+duration.HumanDuration(grace))
}

// Released records why the claim's sandbox is released.
func (r *Recorder) Released(c claims.Claim, why string) {
	r.record(subjectOfClaim(c), corev1.EventTypeNormal, ReasonReleased, "the sandbox is released: "+why)
}

// Refused records on the owner why its Pod has no claim. virtual-kubelet records the same
// text on the Pod if a create fails.
func (r *Recorder) Refused(pod *corev1.Pod, err error) {
	if s := subjectOfPod(pod); s.owner != nil {
		r.sink.Event(s.owner, corev1.EventTypeWarning, ReasonRefused, "the pod is not served: "+err.Error())
	}
}

func (r *Recorder) record(s subject, eventType, reason, message string) {
	r.sink.Event(&s.pod, eventType, reason, message)
	if s.owner != nil {
		r.sink.Event(s.owner, eventType, reason, message)
	}
}

// subject is what an event is about: the Pod, and its controller owner unless it is a
// bare Pod.
type subject struct {
	pod   corev1.ObjectReference
	owner *corev1.ObjectReference
}

func subjectOfPod(pod *corev1.Pod) subject {
	return newSubject(podcontract.Key(pod), pods.HolderOf(pod))
}

func subjectOfClaim(c claims.Claim) subject {
	owner := c.Controller
	if c.Owner != nil {
		owner = c.Owner
	}
	return newSubject(c.Key, claims.Holder{PodUID: c.PodUID, Controller: owner})
}

func newSubject(key string, h claims.Holder) subject {
	name := pods.NameOf(key)
	s := subject{pod: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: name.Namespace, Name: name.Name, UID: h.PodUID}}
	if o := h.Controller; o != nil {
		s.owner = &corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: name.Namespace, Name: o.Name, UID: o.UID}
	}
	return s
}
