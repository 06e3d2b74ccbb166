// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"maps"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// observer is implemented by a provider that wants cache events. It gets each event
// before the library acts on it.
type observer interface {
	// PodChanged is called when the cache shows a deletion timestamp or another
	// controller.
	PodChanged(pod *corev1.Pod)
	// PodGone is called when a Pod leaves the cache; seen is false if no watch
	// delivered its deletion.
	PodGone(pod *corev1.Pod, seen bool)
}

// change is an event that the cache has not processed: one Pod or a complete list.
type change struct {
	before, after *corev1.Pod
	list          map[string]*corev1.Pod
}

// Watch subscribes to an API server. Its changes count while it answers at the
// daemon's address.
func (k *Kubelet) Watch(api *apiserver.API) {
	api.Watch(func(before, after *corev1.Pod) {
		if k.ctx.Err() == nil && k.at.Current() == api {
			k.push(change{before: before, after: after})
		}
	})
	api.WatchRelists(func(list map[string]*corev1.Pod) {
		if k.ctx.Err() == nil && k.at.Current() == api {
			k.Relist(list)
		}
	})
}

// Relist replaces the contents of the cache.
func (k *Kubelet) Relist(list map[string]*corev1.Pod) { k.push(change{list: maps.Clone(list)}) }

func (k *Kubelet) push(c change) {
	k.mu.Lock()
	k.pending = append(k.pending, c)
	k.mu.Unlock()
	signal(k.arrived)
}

// HoldCache stops the delivery of changes to the cache, or resumes it.
func (k *Kubelet) HoldCache(on bool) {
	k.mu.Lock()
	k.held = on
	k.mu.Unlock()
	signal(k.arrived)
}

// DelayWatch delays each change.
func (k *Kubelet) DelayWatch(lag time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lag = lag
}

// LoseDeletions makes the next n deletions arrive as tombstones, which the library
// drops.
func (k *Kubelet) LoseDeletions(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lose = n
}

// deliver applies pending changes to the cache, in order.
func (k *Kubelet) deliver() {
	for k.ctx.Err() == nil {
		k.mu.Lock()
		lag := k.lag
		var c *change
		if !k.held && len(k.pending) > 0 {
			c = &k.pending[0]
			k.pending = k.pending[1:]
		}
		k.mu.Unlock()
		if c != nil {
			time.Sleep(lag)
			k.apply(*c)
			continue
		}
		select {
		case <-k.ctx.Done():
		case <-k.arrived:
		}
	}
}

func (k *Kubelet) apply(c change) {
	switch {
	case c.list != nil:
		k.replace(c.list)
	case c.after == nil:
		k.mu.Lock()
		lost := k.lose > 0
		k.lose = max(k.lose-1, 0)
		k.mu.Unlock()
		k.removed(c.before, !lost)
	case c.before == nil:
		k.added(c.after)
	default:
		k.updated(c.before, c.after)
	}
}

func (k *Kubelet) added(pod *corev1.Pod) {
	key := podcontract.Key(pod)
	_ = k.cache.Add(pod)
	k.show(nil, pod)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lastUsed, key)
	k.enqueueLocked(key)
}

func (k *Kubelet) updated(before, after *corev1.Pod) {
	_ = k.cache.Update(after)
	if k.observer != nil && before.UID != after.UID {
		k.observer.PodGone(before, false)
	}
	k.show(before, after)
	if !podsEqual(before, after) || !before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
		!equality.Semantic.DeepEqual(before.DeletionGracePeriodSeconds, after.DeletionGracePeriodSeconds) {
		k.Enqueue(podcontract.Key(after))
	}
}

// removed removes a Pod from the cache. The library ignores a deletion that no watch
// delivered.
func (k *Kubelet) removed(pod *corev1.Pod, seen bool) {
	key := podcontract.Key(pod)
	_ = k.cache.Delete(pod)
	if k.observer != nil {
		k.observer.PodGone(pod, seen)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lastUsed, key)
	if seen {
		k.enqueueLocked(key)
	}
}

// replace handles a relist. A Pod that took another's name looks like its update.
func (k *Kubelet) replace(list map[string]*corev1.Pod) {
	k.lists.Add(1)
	k.wrote.forget()
	for key, pod := range list {
		if old, ok, _ := k.cache.GetByKey(key); ok {
			k.updated(old.(*corev1.Pod), pod)
		} else {
			k.added(pod)
		}
	}
	for _, old := range k.cache.List() {
		if pod := old.(*corev1.Pod); list[podcontract.Key(pod)] == nil {
			k.removed(pod, false)
		}
	}
}

// show reports a cached Pod to the observers.
func (k *Kubelet) show(before, pod *corev1.Pod) {
	k.Cached(pod)
	moved := before != nil && apiserver.AuthorityOf(before) != apiserver.AuthorityOf(pod)
	if k.observer != nil && (pod.DeletionTimestamp != nil || moved) {
		k.observer.PodChanged(pod)
	}
}

// Listed returns how often the cache was filled from a list.
func (k *Kubelet) Listed() uint64 { return k.lists.Load() }

// Shows reports whether the cache has the status and the claim id of pod.
func (k *Kubelet) Shows(pod *corev1.Pod) bool {
	object, ok, _ := k.cache.GetByKey(podcontract.Key(pod))
	if !ok {
		return false
	}
	cached := object.(*corev1.Pod)
	return cached.UID == pod.UID && equality.Semantic.DeepEqual(cached.Status, pod.Status) &&
		cached.Annotations[podcontract.AnnotationClaimID] == pod.Annotations[podcontract.AnnotationClaimID]
}

func newCache() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// podsEqual is the library's check whether the provider needs an update.
func podsEqual(a, b *corev1.Pod) bool {
	return cmp.Equal(a.Spec.Containers, b.Spec.Containers) && cmp.Equal(a.Labels, b.Labels) && cmp.Equal(a.Annotations, b.Annotations)
}

// effectivelyEqual is the library's check whether a synced Pod needs another sync.
func effectivelyEqual(a, b *corev1.Pod) bool {
	x, y := *a, *b
	x.Status, y.Status = corev1.PodStatus{}, corev1.PodStatus{}
	x.ResourceVersion, y.ResourceVersion = "", ""
	return equality.Semantic.DeepEqual(x, y)
}

// signal wakes whoever waits on c. It never blocks.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
