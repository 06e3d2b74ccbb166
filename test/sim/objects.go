// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// CreatePod makes a Pod, unless one of that name exists: of the Sandbox of that
// name, or bare. ttl is the lease asked for; options change the Pod before it is
// made.
func (a *API) CreatePod(key string, bare bool, ttl string, options ...func(*corev1.Pod)) {
	p := newPod(key, ttl)
	for _, o := range options {
		o(p)
	}
	if bare {
		a.addPod(p)
		return
	}
	a.CreatePodOf(key, p)
}

// CreatePodOf makes a Pod of a Sandbox, unless that is over: no operator would.
func (a *API) CreatePodOf(owner string, p *corev1.Pod) {
	a.mu.Lock()
	o, ok := a.state.owners[owner]
	over := !ok || ownerIsOver(o)
	a.mu.Unlock()
	if over {
		return
	}
	p.OwnerReferences = []metav1.OwnerReference{controllerRef(o)}
	a.addPod(p)
}

// newPod is a sandbox Pod bound to this host's virtual node.
func newPod(key, ttl string) *corev1.Pod {
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

// addPod takes a Pod in, unless one of its name exists.
func (a *API) addPod(p *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := podcontract.Key(p)
	if _, ok := a.state.pods[key]; ok {
		return
	}
	p.UID, p.CreationTimestamp = a.uid("pod"), metav1.NewTime(time.Now().Truncate(time.Second))
	p.ResourceVersion = a.version()
	a.state.pods[key] = p
	a.tell(nil, p)
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

// RemovePod takes a Pod away at once, as pod garbage collection does. One with a
// finalizer stays, marked.
func (a *API) RemovePod(key string, uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.state.pods[key]; ok && (uid == "" || p.UID == uid) {
		a.removePod(key)
	}
}

// PatchStatus writes a Pod's status and claim id, if it is that Pod and the
// server answers. It reports whether the Pod need not be tried again.
func (a *API) PatchStatus(pod *corev1.Pod) (done bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mood != Well && a.mood != Slow {
		return false
	}
	key := podcontract.Key(pod)
	p, ok := a.state.pods[key]
	if !ok || p.UID != pod.UID || terminal(p) {
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
	a.tell(before, after)
}

// Pod returns a Pod; nil when there is none.
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
