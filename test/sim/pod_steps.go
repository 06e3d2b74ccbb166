// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/kubelet"
)

// podActions change Pods and Sandboxes, and the daemon's view of them.
func podActions() []action {
	return []action{
		{"sandbox with pod", 14, func(w *World, a, b uint32) {
			w.API.CreateOwner(name(a))
			w.API.CreatePod(name(a), false, lease(b))
		}},
		{"bare pod", 5, func(w *World, a, b uint32) { w.API.CreatePod(name(a), true, lease(b)) }},
		{"pod with a finalizer", 5, func(w *World, a, b uint32) {
			if b%4 > 0 {
				w.API.CreateOwner(name(a))
			}
			w.API.CreatePod(name(a), b%4 == 0, lease(b>>4), apiserver.WithFinalizer)
		}},
		{"pod that is never restarted", 4, func(w *World, a, b uint32) {
			if b%4 > 0 {
				w.API.CreateOwner(name(a))
			}
			w.API.CreatePod(name(a), b%4 == 0, lease(b>>4), apiserver.NeverRestarted)
		}},
		{"operator makes the missing pods", 8, func(w *World, _, b uint32) {
			for i := range uint32(5) {
				w.API.CreatePod(name(i), false, lease(b))
			}
		}},
		{"garbage is collected", 6, func(w *World, _, _ uint32) { w.API.CollectGarbage() }},
		{"delete pod", 10, func(w *World, a, _ uint32) { w.API.DeletePod(name(a)) }},
		{"remove pod at once", 5, func(w *World, a, _ uint32) { w.API.RemovePod(name(a), "") }},
		{"evict every pod", 2, func(w *World, _, _ uint32) {
			for i := range uint32(5) {
				w.API.DeletePod(name(i))
			}
		}},
		{"delete sandbox", 5, func(w *World, a, b uint32) { w.API.DeleteOwner(name(a), b%3 == 0) }},
		{"delete sandbox and pod", 5, func(w *World, a, _ uint32) { w.API.DeleteOwner(name(a), false); w.API.DeletePod(name(a)) }},
		{"recreate sandbox", 3, func(w *World, a, b uint32) {
			w.API.DeleteOwner(name(a), false)
			w.API.RemovePod(name(a), "")
			w.API.CreateOwner(name(a))
			w.API.CreatePod(name(a), false, lease(b))
		}},
		{"sandbox expires", 2, func(w *World, a, _ uint32) {
			w.API.SetReady(name(a), "False", "SandboxExpired")
			w.deletePods(name(a))
		}},
		{"sandbox is suspended", 2, func(w *World, a, _ uint32) {
			if !w.API.Releasable(w.API.Owner(name(a))) {
				w.API.SetReady(name(a), "False", "SandboxSuspended")
				w.deletePods(name(a))
			}
		}},

		{"api server", 8, func(w *World, a, _ uint32) {
			w.API.SetMode(pick(a, apiserver.Healthy, apiserver.Healthy, apiserver.Healthy, apiserver.Refusing, apiserver.Failing, apiserver.Forbidding, apiserver.NoEndpoint, apiserver.Slow))
		}},
		{"cache lags", 4, func(w *World, a, _ uint32) { w.onKubelet(func(k *kubelet.Kubelet) { k.HoldCache(a%2 == 0) }) }},
		{"the watch is slow", 3, func(w *World, a, _ uint32) {
			w.onKubelet(func(k *kubelet.Kubelet) { k.DelayWatch(pick(a, 0, 50*time.Millisecond, 400*time.Millisecond)) })
		}},
		{"deletions are lost", 3, func(w *World, a, _ uint32) { w.onKubelet(func(k *kubelet.Kubelet) { k.LoseDeletions(int(1 + a%2)) }) }},
		{"resync", 3, func(w *World, a, _ uint32) { w.onKubelet(func(k *kubelet.Kubelet) { k.Enqueue(name(a)) }) }},
	}
}

// deletePods deletes the Pod of the Sandbox's name, and those of other names that it owns.
func (w *World) deletePods(sandbox string) {
	w.API.DeletePod(sandbox)
	for _, key := range w.API.Replicas(sandbox) {
		w.API.DeletePod(key)
	}
}
