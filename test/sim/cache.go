// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// observer is what a provider can be told besides the library's calls. It is
// told before the library acts.
type observer interface {
	// PodChanged tells of a Pod that the cache shows with a deletion timestamp or
	// with another controller.
	PodChanged(pod *corev1.Pod)
	// PodGone tells of a Pod that has left the cache; seen is false when no
	// watch delivered its deletion.
	PodGone(pod *corev1.Pod, seen bool)
}

// change is an event that the cache has not seen: of one Pod, or a whole list.
type change struct {
	before, after *corev1.Pod
	list          map[string]*corev1.Pod
}

// watch takes the changes of an API server for as long as it answers at the
// daemon's address.
func (k *kubelet) watch(api *API) {
	api.Watch(func(before, after *corev1.Pod) {
		if k.ctx.Err() == nil && k.at.current() == api {
			k.push(change{before: before, after: after})
		}
	})
	api.WatchRelists(func(list map[string]*corev1.Pod) {
		if k.ctx.Err() == nil && k.at.current() == api {
			k.relist(list)
		}
	})
}

// relist lets the cache be replaced by what is there.
func (k *kubelet) relist(list map[string]*corev1.Pod) { k.push(change{list: maps.Clone(list)}) }

func (k *kubelet) push(c change) {
	k.mu.Lock()
	k.pending = append(k.pending, c)
	k.mu.Unlock()
	signal(k.arrived)
}

// hold makes the cache lag, or lets it catch up.
func (k *kubelet) hold(on bool) {
	k.mu.Lock()
	k.held = on
	k.mu.Unlock()
	signal(k.arrived)
}

// slow makes each change take that long to arrive.
func (k *kubelet) slow(lag time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lag = lag
}

// loseDeletions makes the next n deletions arrive as tombstones, which the
// library drops.
func (k *kubelet) loseDeletions(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lose = n
}

// deliver shows the cache what has changed, in order.
func (k *kubelet) deliver() {
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

func (k *kubelet) apply(c change) {
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

func (k *kubelet) added(pod *corev1.Pod) {
	key := podcontract.Key(pod)
	_ = k.cache.Add(pod)
	k.show(nil, pod)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lastUsed, key)
	k.enqueueLocked(key)
}

func (k *kubelet) updated(before, after *corev1.Pod) {
	_ = k.cache.Update(after)
	if k.observer != nil && before.UID != after.UID {
		k.observer.PodGone(before, false)
	}
	k.show(before, after)
	if !podsEqual(before, after) || !before.DeletionTimestamp.Equal(after.DeletionTimestamp) ||
		!equality.Semantic.DeepEqual(before.DeletionGracePeriodSeconds, after.DeletionGracePeriodSeconds) {
		k.enqueue(podcontract.Key(after))
	}
}

// removed takes a Pod out of the cache. The library drops a deletion that no
// watch delivered.
func (k *kubelet) removed(pod *corev1.Pod, seen bool) {
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

// replace is a relist: a Pod that took another's name looks like an update of it.
func (k *kubelet) replace(list map[string]*corev1.Pod) {
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

// show tells whoever wants to know what the cache shows.
func (k *kubelet) show(before, pod *corev1.Pod) {
	k.cached(pod)
	moved := before != nil && authorityOf(before) != authorityOf(pod)
	if k.observer != nil && (pod.DeletionTimestamp != nil || moved) {
		k.observer.PodChanged(pod)
	}
}

// listed is how often the cache was filled from a list.
func (k *kubelet) listed() uint64 { return k.lists.Load() }

// shows reports whether the cache has the status and the claim id of pod.
func (k *kubelet) shows(pod *corev1.Pod) bool {
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

// podsEqual is the library's question whether a provider has to be told.
func podsEqual(a, b *corev1.Pod) bool {
	return cmp.Equal(a.Spec.Containers, b.Spec.Containers) && cmp.Equal(a.Labels, b.Labels) && cmp.Equal(a.Annotations, b.Annotations)
}

// effectivelyEqual is the library's question whether a Pod has to be looked at
// again after it was synced.
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
