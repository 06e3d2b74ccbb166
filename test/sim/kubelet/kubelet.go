// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// Kubelet simulates virtual-kubelet's pod controller: a Pod cache that can lag, one
// queue with retries per key, the library's order of create, update and delete, and
// a status queue. Like the library it drops deletions that arrive as tombstones, and
// statuses of Pods that it does not know.
type Kubelet struct {
	at       *apiserver.Address
	provider *provider.Provider
	observer observer // nil if the provider does not implement it
	cache    cache.Indexer
	ctx      context.Context
	work     sync.WaitGroup
	// Observe is called with each status that the provider publishes, Cached with
	// each Pod that enters the cache. Set both before Start.
	Observe, Cached func(*corev1.Pod)

	mu       sync.Mutex
	held     bool // the cache lags
	lag      time.Duration
	lose     int // how many deletions will arrive as tombstones
	lists    atomic.Uint64
	wrote    terminalWrites
	pending  []change
	dirty    map[string]*queued
	lastUsed map[string]*corev1.Pod
	statuses map[string]*corev1.Pod
	wake     chan struct{} // signals work
	arrived  chan struct{} // signals pending changes
}

type queued struct {
	at      time.Time
	fails   int
	running bool
	again   bool
}

// New returns a kubelet that watches the API server at the address.
func New(ctx context.Context, at *apiserver.Address) *Kubelet {
	k := &Kubelet{
		at: at, ctx: ctx, cache: newCache(),
		dirty:    map[string]*queued{},
		lastUsed: map[string]*corev1.Pod{},
		statuses: map[string]*corev1.Pod{},
		wake:     make(chan struct{}, 1),
		arrived:  make(chan struct{}, 1),
	}
	k.Watch(at.Current())
	return k
}

// Wait returns when all workers have ended. Cancel the context first.
func (k *Kubelet) Wait() { k.work.Wait() }

// Context is the context of the daemon that the kubelet belongs to.
func (k *Kubelet) Context() context.Context { return k.ctx }

// Lister reads the cache as the daemon does.
func (k *Kubelet) Lister() corev1listers.PodLister {
	return podLister{corev1listers.NewPodLister(k.cache), &k.wrote}
}

// Start fills the cache from a complete list, calls DeletePod for the provider's Pods
// that are not in the list, and starts the workers.
func (k *Kubelet) Start(p *provider.Provider) {
	k.provider = p
	k.observer, _ = any(p).(observer)
	k.lists.Add(1)
	k.mu.Lock()
	k.pending = nil // the list is newer
	k.mu.Unlock()
	for _, pod := range k.at.Current().Pods() {
		k.added(pod)
	}
	p.NotifyPods(k.ctx, k.notify)
	dangling, _ := p.GetPods(k.ctx)
	for _, pod := range dangling {
		if _, ok, _ := k.cache.GetByKey(podcontract.Key(pod)); !ok {
			_ = p.DeletePod(k.ctx, pod)
		}
	}
	k.work.Go(k.run)
	k.work.Go(k.deliver)
}

// Enqueue adds a key to the queue.
func (k *Kubelet) Enqueue(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.enqueueLocked(key)
}

func (k *Kubelet) enqueueLocked(key string) {
	q := k.dirty[key]
	if q == nil {
		q = &queued{}
		k.dirty[key] = q
	}
	q.at, q.again = time.Now(), q.running
	signal(k.wake)
}

// run handles due keys, different keys concurrently.
func (k *Kubelet) run() {
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

func (k *Kubelet) handle(key string, q *queued) {
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
	signal(k.wake)
}

// sync handles one key as the library does.
func (k *Kubelet) sync(key string) error {
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
		k.at.Current().RemovePod(key, pod.UID)
		return nil
	}
	k.mu.Lock()
	last := k.lastUsed[key]
	k.mu.Unlock()
	if last != nil && effectivelyEqual(last, pod) {
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

func (k *Kubelet) syncProvider(key string, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		if err := ignoreNotFound(k.provider.DeletePod(k.ctx, pod.DeepCopy())); err != nil {
			return err
		}
		uid := pod.UID
		k.work.Go(func() { k.removeAfterGrace(key, uid) })
		return nil
	}
	if apiserver.Terminal(pod) {
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
		if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
			failed.Status.Phase = corev1.PodFailed
		}
		if k.at.Current().PatchStatus(failed) {
			k.wrote.note(failed)
		}
	}
	return err
}

func (k *Kubelet) removeAfterGrace(key string, uid types.UID) {
	select {
	case <-k.ctx.Done():
	case <-time.After(30 * time.Second):
		k.at.Current().RemovePod(key, uid)
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
