// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// notify queues a status as the library does: it waits about three seconds for an
// unknown Pod, then drops the status.
func (k *Kubelet) notify(pod *corev1.Pod) {
	k.Observe(pod)
	key := podcontract.Key(pod)
	for range 20 {
		if _, ok, _ := k.cache.GetByKey(key); ok {
			k.mu.Lock()
			k.statuses[key] = pod
			k.mu.Unlock()
			signal(k.wake)
			return
		}
		select {
		case <-k.ctx.Done():
			return
		case <-time.After(151 * time.Millisecond):
		}
	}
}

func (k *Kubelet) flushStatuses() {
	k.mu.Lock()
	statuses := maps.Clone(k.statuses)
	k.mu.Unlock()
	for key, pod := range statuses {
		if !k.at.Current().PatchStatus(pod) {
			continue
		}
		k.wrote.note(pod)
		k.mu.Lock()
		if k.statuses[key] == pod {
			delete(k.statuses, key)
		}
		k.mu.Unlock()
	}
}
