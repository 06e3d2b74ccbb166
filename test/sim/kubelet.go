// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
)

// kubelet stands in for virtual-kubelet's pod controller: a Pod cache that can
// lag, one queue with retries per key, the library's order of create, update
// and delete, and a status queue. It loses what the library loses: deletions
// that arrive as tombstones, and statuses of Pods it does not know.
type kubelet struct {
	api      *API
	provider *provider.Provider
	cache    cache.Indexer
	ctx      context.Context
	work     sync.WaitGroup
	// observe sees each status that the provider publishes.
	observe func(*corev1.Pod)

	mu       sync.Mutex
	held     bool // the cache lags
	lose     int  // deletions to lose as tombstones
	pending  []change
	dirty    map[string]*queued
	lastUsed map[string]*corev1.Pod
	statuses map[string]*corev1.Pod
	wake     chan struct{}
}

// change is an event that the cache has not seen.
type change struct{ before, after *corev1.Pod }

type queued struct {
	at      time.Time
	fails   int
	running bool
	again   bool
}

func newKubelet(ctx context.Context, api *API) *kubelet {
	k := &kubelet{
		api: api, ctx: ctx,
		cache:    cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		dirty:    map[string]*queued{},
		lastUsed: map[string]*corev1.Pod{},
		statuses: map[string]*corev1.Pod{},
		wake:     make(chan struct{}, 1),
	}
	api.Watch(func(before, after *corev1.Pod) {
		if ctx.Err() != nil {
			return
		}
		k.mu.Lock()
		k.pending = append(k.pending, change{before, after})
		k.mu.Unlock()
		k.deliver()
	})
	return k
}

// lister returns copies, as the daemon's cache does.
func (k *kubelet) lister() corev1listers.PodLister { return corev1listers.NewPodLister(k.cache) }

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

// start fills the cache from a whole list, calls DeletePod for the Pods that
// the provider has and the list lacks, and begins to work.
func (k *kubelet) start(p *provider.Provider) {
	k.provider = p
	for key, pod := range k.api.Pods() {
		_ = k.cache.Add(pod)
		k.enqueue(key)
	}
	p.NotifyPods(k.ctx, k.notify)
	dangling, _ := p.GetPods(k.ctx)
	for _, pod := range dangling {
		if _, ok, _ := k.cache.GetByKey(podcontract.Key(pod)); !ok {
			_ = p.DeletePod(k.ctx, pod)
		}
	}
	k.work.Go(k.run)
}

// hold makes the cache lag, or lets it catch up.
func (k *kubelet) hold(on bool) {
	k.mu.Lock()
	k.held = on
	k.mu.Unlock()
	k.deliver()
}

// loseDeletions makes the next n deletions arrive as tombstones, which the
// library drops.
func (k *kubelet) loseDeletions(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lose = n
}

func (k *kubelet) deliver() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held {
		return
	}
	for _, c := range k.pending {
		switch {
		case c.after == nil:
			key := podcontract.Key(c.before)
			_ = k.cache.Delete(c.before)
			delete(k.lastUsed, key)
			if k.lose > 0 {
				k.lose--
				continue
			}
			k.enqueueLocked(key)
		case c.before == nil:
			key := podcontract.Key(c.after)
			_ = k.cache.Add(c.after)
			delete(k.lastUsed, key)
			k.enqueueLocked(key)
		default:
			_ = k.cache.Update(c.after)
			if !podsEqual(c.before, c.after) || !c.before.DeletionTimestamp.Equal(c.after.DeletionTimestamp) {
				k.enqueueLocked(podcontract.Key(c.after))
			}
		}
	}
	k.pending = nil
}

func podsEqual(a, b *corev1.Pod) bool {
	return cmp.Equal(a.Spec.Containers, b.Spec.Containers) && cmp.Equal(a.Labels, b.Labels) && cmp.Equal(a.Annotations, b.Annotations)
}

func (k *kubelet) enqueue(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.enqueueLocked(key)
}

func (k *kubelet) enqueueLocked(key string) {
	q := k.dirty[key]
	if q == nil {
		q = &queued{}
		k.dirty[key] = q
	}
	q.at, q.again = time.Now(), q.running
	k.poke()
}

// poke makes run look again. It never blocks.
func (k *kubelet) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run works keys off when they are due, different ones side by side.
func (k *kubelet) run() {
	for {
		next := time.Hour
		k.mu.Lock()
		for key, q := range k.dirty {
			wait := time.Until(q.at)
			if q.running {
				continue
			}
			if wait > 0 {
				next = min(next, wait)
				continue
			}
			q.running = true
			k.work.Go(func() { k.handle(key, q) })
		}
		if len(k.statuses) > 0 {
			next = min(next, time.Second)
		}
		k.mu.Unlock()
		k.flushStatuses()
		timer := time.NewTimer(next)
		select {
		case <-k.ctx.Done():
			timer.Stop()
			return
		case <-k.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (k *kubelet) handle(key string, q *queued) {
	err := k.sync(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	q.running = false
	switch {
	case q.again:
		q.again = false
	case err == nil:
		delete(k.dirty, key)
		return
	default:
		q.fails++
		delay := min(5*time.Millisecond<<min(q.fails, 20), 30*time.Second)
		var w interface{ RetryAfter() time.Duration }
		if errors.As(err, &w) && w.RetryAfter() > 0 {
			delay = w.RetryAfter()
		}
		q.at = time.Now().Add(delay)
	}
	k.poke()
}

// sync is what the library does for one key.
func (k *kubelet) sync(key string) error {
	obj, ok, _ := k.cache.GetByKey(key)
	namespace, name, _ := cache.SplitMetaNamespaceKey(key)
	if !ok {
		pod, err := k.provider.GetPod(k.ctx, namespace, name)
		if errdefs.IsNotFound(err) || pod == nil {
			return nil
		}
		return ignoreNotFound(k.provider.DeletePod(k.ctx, pod))
	}
	pod := obj.(*corev1.Pod).DeepCopy()
	if pod.DeletionTimestamp != nil && !running(pod) {
		k.api.RemovePod(key, pod.UID)
		return nil
	}
	k.mu.Lock()
	last := k.lastUsed[key]
	k.mu.Unlock()
	if last != nil && podsEqual(last, pod) && last.UID == pod.UID && last.DeletionTimestamp.Equal(pod.DeletionTimestamp) {
		return nil
	}
	err := k.syncProvider(key, pod)
	if err == nil {
		k.mu.Lock()
		k.lastUsed[key] = pod
		k.mu.Unlock()
	}
	return err
}

func (k *kubelet) syncProvider(key string, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		if err := ignoreNotFound(k.provider.DeletePod(k.ctx, pod.DeepCopy())); err != nil {
			return err
		}
		uid := pod.UID
		k.work.Go(func() { k.removeAfterGrace(key, uid) })
		return nil
	}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	var err error
	known, _ := k.provider.GetPod(k.ctx, pod.Namespace, pod.Name)
	switch {
	case known == nil:
		err = k.provider.CreatePod(k.ctx, pod.DeepCopy())
	case !podsEqual(known, pod):
		err = k.provider.UpdatePod(k.ctx, pod.DeepCopy())
	}
	if err != nil {
		failed := pod.DeepCopy()
		failed.Status.Phase, failed.Status.Reason, failed.Status.Message = corev1.PodPending, "ProviderFailed", err.Error()
		k.api.PatchStatus(failed)
	}
	return err
}

func (k *kubelet) removeAfterGrace(key string, uid types.UID) {
	select {
	case <-k.ctx.Done():
	case <-time.After(30 * time.Second):
		k.api.RemovePod(key, uid)
	}
}

func ignoreNotFound(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

func running(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil {
			return true
		}
	}
	return false
}

// notify takes a status as the library does: it waits a while for a Pod it
// does not know, then drops the status.
func (k *kubelet) notify(pod *corev1.Pod) {
	k.observe(pod)
	key := podcontract.Key(pod)
	for range 20 {
		if _, ok, _ := k.cache.GetByKey(key); ok {
			k.mu.Lock()
			k.statuses[key] = pod
			k.mu.Unlock()
			k.poke()
			return
		}
		select {
		case <-k.ctx.Done():
			return
		case <-time.After(151 * time.Millisecond):
		}
	}
}

func (k *kubelet) flushStatuses() {
	k.mu.Lock()
	statuses := maps.Clone(k.statuses)
	k.mu.Unlock()
	for key, pod := range statuses {
		if !k.api.PatchStatus(pod) {
			continue
		}
		k.mu.Lock()
		if k.statuses[key] == pod {
			delete(k.statuses, key)
		}
		k.mu.Unlock()
	}
}
