// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const (
	// observers is how many observed Pods are worked on side by side.
	observers = 32
	// busyRetry is when a Pod is looked at again whose key is in use, by a create
	// that waits for sandboxd for example.
	busyRetry = 100 * time.Millisecond
	// observeFirst and observeMost are the back-off of a Pod that fails.
	observeFirst = 5 * time.Millisecond
	observeMost  = 30 * time.Second
)

// PodChanged is told of each change of a Pod in the cache that may concern its
// claim: a deletion that began, or another controller. virtual-kubelet calls
// DeletePod from the queue that its creates wait in, and tells nothing of a change
// of the owner; what is observed here waits for neither. It never blocks.
func (p *Provider) PodChanged(pod *corev1.Pod) { p.observed.Add(podcontract.Key(pod)) }

// PodGone is told that a Pod has left the cache, with its newest known object. seen
// is false when no event but a new list says so. It never blocks.
func (p *Provider) PodGone(pod *corev1.Pod, seen bool) {
	key := podcontract.Key(pod)
	p.pods.trackUnknown(pod) // a claim for it can be on its way
	p.pods.depart(pod, seen)
	p.observed.Add(key)
}

// observeLoop works on observed Pods until ctx ends.
func (p *Provider) observeLoop(ctx context.Context) {
	for range observers {
		p.background.Go(func() {
			for {
				key, quit := p.observed.Get()
				if quit {
					return
				}
				p.observe(ctx, key)
				p.observed.Done(key)
			}
		})
	}
	<-ctx.Done()
	p.observed.ShutDown()
}

// observe brings the claim under a key in line with the Pod that holds it. A Pod
// whose key is in use is looked at again, so that no worker waits for a create.
func (p *Provider) observe(ctx context.Context, key string) {
	unlock, ok := p.keys.tryLock(key)
	if !ok {
		p.observeAfter(key, busyRetry)
		return
	}
	err := p.observeLocked(ctx, key)
	unlock()
	if err == nil {
		p.observeAgain.Forget(key)
		return
	}
	klog.FromContext(ctx).V(2).Info("the deletion of a pod is not decided yet; trying again", "key", key, "err", err)
	p.observeAfter(key, p.observeAgain.When(key))
}

// observeAfter looks at a Pod again later. A queue that delays by itself would run a
// goroutine from its creation on.
func (p *Provider) observeAfter(key string, delay time.Duration) {
	time.AfterFunc(delay, func() { p.observed.Add(key) })
}

func (p *Provider) observeLocked(ctx context.Context, key string) error {
	t, tracked := p.pods.get(key)
	name := podName(key)
	pod, err := p.lister.Pods(name.Namespace).Get(name.Name)
	inCache := err == nil
	switch {
	case tracked && t.gone != nil && (!inCache || pod.UID != t.pod.UID):
		return p.finishDelete(podContext(ctx, t.pod), t.pod)
	case !inCache:
		return nil // a Pod that left unobserved is found by the periodic reconcile
	case pod.DeletionTimestamp != nil:
		return p.finishDelete(podContext(ctx, pod), pod)
	}
	if c, held := p.table.Get(key); held {
		p.follow(podContext(ctx, pod), pod, c)
	}
	return nil
}

// podName is the name in a Pod key, <namespace>/<name>.
func podName(key string) types.NamespacedName {
	namespace, name, _ := strings.Cut(key, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}
