// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// Template is the template of all Pods.
const Template = "ghcr.io/cocoonstack/sandbox/rt:24.04"

// CreatePod creates a Pod unless one of that name exists. Its controller is the
// Sandbox of that name; a bare Pod has none. ttl is the requested lease. options
// change the Pod before it is created.
func (a *API) CreatePod(key string, bare bool, ttl string, options ...func(*corev1.Pod)) {
	p := NewPod(key, ttl)
	for _, o := range options {
		o(p)
	}
	if bare {
		a.AddPod(p)
		return
	}
	a.CreatePodOf(key, p)
}

// CreatePodOf creates a Pod of a Sandbox, unless the Sandbox has ended.
func (a *API) CreatePodOf(owner string, p *corev1.Pod) {
	a.mu.Lock()
	o, ok := a.state.owners[owner]
	ended := !ok || ownerEnded(o)
	a.mu.Unlock()
	if ended {
		return
	}
	p.OwnerReferences = []metav1.OwnerReference{controllerRef(o)}
	a.AddPod(p)
}

// NewPod returns a sandbox Pod bound to this host's virtual node.
func NewPod(key, ttl string) *corev1.Pod {
	namespace, name, _ := strings.Cut(key, "/")
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Annotations: map[string]string{
				podcontract.AnnotationRuntime: podcontract.RuntimeSandboxd, podcontract.AnnotationTemplate: Template,
				podcontract.AnnotationTTLSeconds: ttl,
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "host-07-sandboxd", RestartPolicy: corev1.RestartPolicyAlways,
			Containers: []corev1.Container{{Name: "agent", Image: Template}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// AddPod creates a Pod unless one of its name exists.
func (a *API) AddPod(p *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := podcontract.Key(p)
	if _, ok := a.state.pods[key]; ok {
		return
	}
	p.UID, p.CreationTimestamp = a.uid("pod"), metav1.NewTime(time.Now().Truncate(time.Second))
	p.ResourceVersion = a.version()
	a.state.pods[key] = p
	a.notify(nil, p)
}

// DeletePod marks a Pod for deletion.
func (a *API) DeletePod(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.state.pods[key]
	if !ok || p.DeletionTimestamp != nil {
		return
	}
	a.change(key, func(p *corev1.Pod) { markDeleted(p, 30) })
}

// RemovePod removes a Pod at once, as pod garbage collection does. A Pod with a
// finalizer is only marked. An empty uid matches every Pod.
func (a *API) RemovePod(key string, uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.state.pods[key]; ok && (uid == "" || p.UID == uid) {
		a.removePod(key)
	}
}

// PatchStatus writes a Pod's status and claim id if the UID matches and the server
// answers. It reports whether no retry is needed.
func (a *API) PatchStatus(pod *corev1.Pod) (done bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode != Healthy && a.mode != Slow {
		return false
	}
	key := podcontract.Key(pod)
	p, ok := a.state.pods[key]
	if !ok || p.UID != pod.UID || Terminal(p) {
		return true
	}
	a.change(key, func(p *corev1.Pod) {
		p.Status = *pod.Status.DeepCopy()
		if id, ok := pod.Annotations[podcontract.AnnotationClaimID]; ok {
			p.Annotations[podcontract.AnnotationClaimID] = id
		}
	})
	return true
}

func (a *API) change(key string, apply func(*corev1.Pod)) {
	before := a.state.pods[key]
	after := before.DeepCopy()
	apply(after)
	after.ResourceVersion = a.version()
	a.state.pods[key] = after
	a.notify(before, after)
}

// Pod returns a Pod, or nil if it does not exist.
func (a *API) Pod(key string) *corev1.Pod {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.pods[key]
}

// Pods returns every Pod, by key.
func (a *API) Pods() map[string]*corev1.Pod {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.state.pods)
}
