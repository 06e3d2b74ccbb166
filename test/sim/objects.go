// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const sandboxAPIVersion = "agents.x-k8s.io/v1beta1"

// CreateOwner makes a Sandbox, unless one of that name exists, and returns its
// UID.
func (a *API) CreateOwner(key string) types.UID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.owners[key]; ok {
		return o.GetUID()
	}
	namespace, name, _ := strings.Cut(key, "/")
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(sandboxAPIVersion)
	o.SetKind("Sandbox")
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetUID(a.uid("owner"))
	o.SetGeneration(1)
	a.owners[key] = o
	return o.GetUID()
}

// DeleteOwner removes a Sandbox, or with foreground only marks it.
func (a *API) DeleteOwner(key string, foreground bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.owners[key]
	if !ok {
		return
	}
	if !foreground {
		delete(a.owners, key)
		return
	}
	now := metav1.Now()
	o = o.DeepCopy()
	o.SetDeletionTimestamp(&now)
	a.owners[key] = o
}

// SetReady writes the Sandbox's Ready condition.
func (a *API) SetReady(key, status, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.owners[key]
	if !ok {
		return
	}
	o = o.DeepCopy()
	o.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Suspended", "status": "True", "reason": "Suspended", "observedGeneration": o.GetGeneration()},
		map[string]any{"type": "Ready", "status": status, "reason": reason, "observedGeneration": o.GetGeneration()},
	}}
	a.owners[key] = o
}

// CollectGarbage deletes the Pods whose owner is gone or in teardown, as
// Kubernetes does.
func (a *API) CollectGarbage() {
	for key, p := range a.Pods() {
		ref := metav1.GetControllerOf(p)
		if ref == nil {
			continue
		}
		a.mu.Lock()
		o, ok := a.owners[key]
		orphaned := !ok || o.GetUID() != ref.UID || o.GetDeletionTimestamp() != nil
		a.mu.Unlock()
		if orphaned {
			a.DeletePod(key)
		}
	}
}

// Releasable reports whether a Sandbox's or a bare Pod's state authorises a
// release of what it owned, in the words of the contract alone.
func (a *API) Releasable(key string, authority types.UID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.releasable(key, authority)
}

func (a *API) releasable(key string, authority types.UID) bool {
	if p, ok := a.pods[key]; ok && p.UID == authority {
		return p.DeletionTimestamp != nil
	}
	o, ok := a.owners[key]
	if !ok || o.GetUID() != authority || o.GetDeletionTimestamp() != nil {
		return true
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m := c.(map[string]any)
		return m["type"] == "Ready" && m["status"] == "False" && m["reason"] == "SandboxExpired"
	})
}

// CreatePod makes a Pod, unless one of that name exists: of the Sandbox of that
// name, or bare. ttl is the lease asked for.
func (a *API) CreatePod(key string, bare bool, ttl string) {
	p := newPod(key, ttl)
	if bare {
		a.addPod(p)
		return
	}
	a.CreatePodOf(key, p)
}

// CreatePodOf makes a Pod of a Sandbox, unless that is over: no operator would.
func (a *API) CreatePodOf(owner string, p *corev1.Pod) {
	a.mu.Lock()
	o, ok := a.owners[owner]
	over := !ok || a.releasable(owner, o.GetUID())
	a.mu.Unlock()
	if over {
		return
	}
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: sandboxAPIVersion, Kind: "Sandbox", Name: o.GetName(), UID: o.GetUID(), Controller: new(true),
	}}
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
	if _, ok := a.pods[key]; ok {
		return
	}
	p.UID, p.CreationTimestamp = a.uid("pod"), metav1.NewTime(time.Now().Truncate(time.Second))
	a.pods[key] = p
	a.tell(nil, p)
}

// DeletePod marks a Pod for deletion.
func (a *API) DeletePod(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.pods[key]
	if !ok || p.DeletionTimestamp != nil {
		return
	}
	now, grace := metav1.NewTime(time.Now().Truncate(time.Second)), int64(30)
	a.change(key, func(p *corev1.Pod) { p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, &grace })
}

// RemovePod takes a Pod away at once, as pod garbage collection does.
func (a *API) RemovePod(key string, uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.pods[key]; ok && (uid == "" || p.UID == uid) {
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
	p, ok := a.pods[key]
	if !ok || p.UID != pod.UID || p.Status.Phase == corev1.PodFailed {
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
	before := a.pods[key]
	after := before.DeepCopy()
	apply(after)
	a.pods[key] = after
	a.tell(before, after)
}

// Pod returns a Pod; nil when there is none.
func (a *API) Pod(key string) *corev1.Pod {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pods[key]
}

// Pods returns every Pod, by key.
func (a *API) Pods() map[string]*corev1.Pod {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.pods)
}

// Owner returns a Sandbox's UID; empty when there is none.
func (a *API) Owner(key string) types.UID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.owners[key]; ok {
		return o.GetUID()
	}
	return ""
}
