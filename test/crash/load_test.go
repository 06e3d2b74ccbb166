// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
)

const (
	// users is the number of concurrent users.
	users = 4
	// names is the number of names of each sort in each namespace: few enough that
	// the users' actions collide.
	names = 6
	// quietOdds makes one action in so many use a quiet name. Objects with quiet names
	// stay unchanged for some seconds.
	quietOdds = 60
)

// load starts the users and the controllers. stop ends them and waits for that; it may
// be called more than once.
func (w *world) load() (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	every := func(rng *rand.Rand, most time.Duration, act func()) {
		wg.Go(func() {
			for {
				act()
				select {
				case <-quit:
					return
				case <-time.After(between(rng, 0, most)):
				}
			}
		})
	}
	for range users {
		rng := rand.New(rand.NewPCG(w.rng.Uint64(), 2))
		every(rng, 15*time.Millisecond, func() { act(w.api, rng) })
	}
	every(rand.New(rand.NewPCG(w.rng.Uint64(), 3)), 30*time.Millisecond, func() { collectGarbage(w.api) })
	return sync.OnceFunc(func() { close(quit); wg.Wait() })
}

// act performs one random action of a user, the operator or an administrator.
func act(api *kubeapi.Server, rng *rand.Rand) {
	sort := "busy"
	if rng.IntN(quietOdds) == 0 {
		sort = "quiet"
	}
	key := fmt.Sprintf("team-%d/%s-%d", rng.IntN(2), sort, rng.IntN(names))
	switch n := rng.IntN(100); {
	case n < 40:
		createSandbox(api, key)
		createPod(api, key, false, ttl(rng))
	case n < 50:
		createPod(api, key, true, ttl(rng))
	case n < 62: // an eviction
		api.Change(kubeapi.Pods, key, "", kubeapi.Terminate)
	case n < 66: // as by kubectl delete --force
		api.Remove(kubeapi.Pods, key, "")
	case n < 74:
		api.Remove(kubeapi.Sandboxes, key, "")
	case n < 78: // in the foreground: it is removed after its Pod
		api.Change(kubeapi.Sandboxes, key, "", func(o kubeapi.Object) {
			if o.GetDeletionTimestamp() == nil {
				now := metav1.Now()
				o.SetDeletionTimestamp(&now)
			}
		})
	case n < 83: // replaced by another of the same name, with a Pod of its own
		api.Remove(kubeapi.Sandboxes, key, "")
		createSandbox(api, key)
		api.Remove(kubeapi.Pods, key, "")
		createPod(api, key, false, ttl(rng))
	case n < 87:
		api.Change(kubeapi.Sandboxes, key, "", expire)
		api.Change(kubeapi.Pods, key, "", kubeapi.Terminate)
	case n < 91:
		api.Change(kubeapi.Sandboxes, key, "", suspend)
		api.Change(kubeapi.Pods, key, "", kubeapi.Terminate)
	case n < 93:
		api.Change(kubeapi.Sandboxes, key, "", resume)
	case n < 97:
		api.Change(kubeapi.Pods, key, "", func(o kubeapi.Object) {
			a := o.GetAnnotations()
			a["example.com/note"] = fmt.Sprint(rng.IntN(10))
			o.SetAnnotations(a)
		})
	}
}

// ttl draws the lease of a Pod: mostly the default of one day.
func ttl(rng *rand.Rand) string {
	return []string{"0", "2", "5", "30", ""}[min(rng.IntN(24), 4)]
}

func createSandbox(api *kubeapi.Server, key string) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("agents.x-k8s.io/v1beta1")
	o.SetKind("Sandbox")
	name(o, key)
	o.SetGeneration(1)
	_, _ = api.Create(kubeapi.Sandboxes, o) // an existing one is used
}

// createPod creates a Pod on the node: a bare one, or one of the Sandbox of that name
// unless the Sandbox has ended or is suspended.
func createPod(api *kubeapi.Server, key string, bare bool, ttl string) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"nodeName": nodeName, "restartPolicy": "Always",
			"containers": []any{map[string]any{"name": "agent", "image": template}},
		},
		"status": map[string]any{"phase": "Pending"},
	}}
	o.SetAPIVersion("v1")
	o.SetKind("Pod")
	name(o, key)
	annotations := map[string]string{podcontract.AnnotationRuntime: podcontract.RuntimeSandboxd, podcontract.AnnotationTemplate: template}
	if ttl != "" {
		annotations[podcontract.AnnotationTTLSeconds] = ttl
	}
	o.SetAnnotations(annotations)
	if !bare {
		owner := api.Get(kubeapi.Sandboxes, key)
		if owner == nil || ownerEnded(owner) || suspended(owner) {
			return
		}
		controller := true
		o.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), Controller: &controller,
		}})
	}
	_, _ = api.Create(kubeapi.Pods, o) // the name may be taken
}

func name(o kubeapi.Object, key string) {
	namespace, name, _ := strings.Cut(key, "/")
	o.SetNamespace(namespace)
	o.SetName(name)
}

// expire sets the condition that the operator sets when a Sandbox expires.
func expire(o kubeapi.Object) {
	o.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "SandboxExpired", "observedGeneration": o.GetGeneration(),
	}}}
}

// suspend removes the Pod and keeps the sandbox, as replicas: 0 does.
func suspend(o kubeapi.Object) { o.Object["spec"] = map[string]any{"replicas": int64(0)} }

func resume(o kubeapi.Object) { delete(o.Object, "spec") }

func suspended(o kubeapi.Object) bool { return o.Object["spec"] != nil }

// collectGarbage acts as Kubernetes' garbage collector. It deletes Pods whose owner is
// gone or being deleted, and owners whose foreground deletion waited for the Pod.
func collectGarbage(api *kubeapi.Server) {
	for _, pod := range api.List(kubeapi.Pods) {
		ref := metav1.GetControllerOf(pod)
		if ref == nil {
			continue
		}
		owner := api.Get(kubeapi.Sandboxes, podKey(pod))
		if owner == nil || owner.GetUID() != ref.UID || owner.GetDeletionTimestamp() != nil {
			api.Change(kubeapi.Pods, podKey(pod), pod.GetUID(), kubeapi.Terminate)
		}
	}
	for _, owner := range api.List(kubeapi.Sandboxes) {
		if owner.GetDeletionTimestamp() == nil {
			continue
		}
		pod := api.Get(kubeapi.Pods, podKey(owner))
		if pod == nil || authorityOf(pod) != owner.GetUID() {
			api.Remove(kubeapi.Sandboxes, podKey(owner), owner.GetUID())
		}
	}
}
