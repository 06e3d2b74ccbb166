// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
)

const (
	// observers bounds the observed Pods that are handled at once.
	observers = 32
	// busyRetry is the delay before a Pod whose key is locked is tried again.
	busyRetry = 100 * time.Millisecond
	// observeFirst and observeMost bound the back-off of a Pod that fails.
	observeFirst = 5 * time.Millisecond
	observeMost  = 30 * time.Second
)

// PodChanged is called for each change of a cached Pod that may concern its claim or its
// status: the start of a deletion, another controller, spec or state of the readiness
// gates. virtual-kubelet calls DeletePod from the queue in which its creates wait, and does
// not report a changed owner or gate; Pods observed here do not depend on either. It never
// blocks.
func (p *Provider) PodChanged(pod *corev1.Pod) { p.observed.queue.Add(podcontract.Key(pod)) }

// PodGone is called with the newest known object of a Pod that has left the cache. seen
// is false if no event showed the deletion and a new list lacks the Pod. It never blocks.
func (p *Provider) PodGone(pod *corev1.Pod, seen bool) {
	key := podcontract.Key(pod)
	p.pods.TrackUnknown(pod) // a claim for it may be in progress
	p.pods.Departed(pod, seen)
	p.observed.queue.Add(key)
}

// handleObserved reconciles the claim under a key with the Pod that holds it. The caller
// holds the key's lock.
func (p *Provider) handleObserved(ctx context.Context, key string) error {
	t, tracked := p.pods.Get(key)
	name := pods.NameOf(key)
	pod, err := p.lister.Pods(name.Namespace).Get(name.Name)
	inCache := err == nil
	switch {
	case tracked && t.Gone != nil && (!inCache || pod.UID != t.Pod.UID):
		return p.deletions.FinishDelete(pods.WithLogger(ctx, t.Pod), t.Pod)
	case !inCache:
		return nil // the periodic reconcile finds Pods that left unobserved
	case pod.DeletionTimestamp != nil:
		return p.deletions.FinishDelete(pods.WithLogger(ctx, pod), pod)
	}
	if c, held := p.table.Get(key); held {
		p.binder.Follow(pods.WithLogger(ctx, pod), pod, c)
	}
	if tracked && t.Pod.UID == pod.UID {
		p.ensurePublished(t, pod)
	}
	return nil
}

// observer is the queue of observed Pod keys.
type observer struct {
	queue   workqueue.TypedInterface[string]
	backoff workqueue.TypedRateLimiter[string]
	tryLock func(key string) (unlock func(), ok bool)
	// handle is called with the key locked.
	handle func(ctx context.Context, key string) error
}

func newObserver(tryLock func(string) (func(), bool), handle func(context.Context, string) error) *observer {
	return &observer{
		queue:   workqueue.NewTyped[string](),
		backoff: workqueue.NewTypedItemExponentialFailureRateLimiter[string](observeFirst, observeMost),
		tryLock: tryLock, handle: handle,
	}
}

// run handles observed Pods until ctx ends, and returns once no handler is running.
func (o *observer) run(ctx context.Context) {
	var wg sync.WaitGroup
	for range observers {
		wg.Go(func() {
			for {
				key, quit := o.queue.Get()
				if quit {
					return
				}
				o.work(ctx, key)
				o.queue.Done(key)
			}
		})
	}
	<-ctx.Done()
	o.queue.ShutDown()
	wg.Wait()
}

// work handles one key. A locked key is queued again, so that no worker waits for a
// create.
func (o *observer) work(ctx context.Context, key string) {
	unlock, ok := o.tryLock(key)
	if !ok {
		o.addAfter(key, busyRetry)
		return
	}
	err := o.handle(ctx, key)
	unlock()
	if err == nil {
		o.backoff.Forget(key)
		return
	}
	klog.FromContext(ctx).V(2).Info("the deletion of a pod is not decided yet; trying again", "key", key, "err", err)
	o.addAfter(key, o.backoff.When(key))
}

// addAfter queues a key again after a delay. A delaying workqueue would run a goroutine
// from its creation on.
func (o *observer) addAfter(key string, delay time.Duration) {
	time.AfterFunc(delay, func() { o.queue.Add(key) })
}
