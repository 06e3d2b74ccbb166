// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// publishers is how many statuses are handed over at once. The library's
// callback can block for seconds on a Pod it does not know yet, and must not
// hold up the others.
const publishers = 16

// NotifyPods implements virtual-kubelet's PodNotifier. publish is called from
// [Provider.Run] whenever a Pod's status may have changed.
func (p *Provider) NotifyPods(_ context.Context, publish func(*corev1.Pod)) {
	p.publish.Store(&publish)
}

// touch asks for the Pod's status to be published. It never blocks.
func (p *Provider) touch(key string) { p.changed.Add(key) }

// publishLoop publishes the status that each touched Pod has at that moment.
// The status is made from the table here, not where the change was seen, so an
// old claim's news cannot land on the Pod that has taken its name since.
func (p *Provider) publishLoop(ctx context.Context) {
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for {
				key, quit := p.changed.Get()
				if quit {
					return
				}
				p.publishPod(key)
				p.changed.Done(key)
			}
		})
	}
	<-ctx.Done()
	p.changed.ShutDown()
	wg.Wait()
}

// publishPod hands the Pod's status to virtual-kubelet. Nothing is said of a
// Pod about which there is nothing to say: Pending without a reason would
// overwrite the status of a Pod whose claim the node has yet to vouch for.
func (p *Provider) publishPod(key string) {
	t, ok := p.pods.get(key)
	publish := p.publish.Load()
	if !ok || publish == nil {
		return
	}
	pod := p.view(t)
	switch {
	case !says(pod.Status):
	case !t.told && p.shows(pod):
		// After a restart most Pods are so. Once the library has been told of
		// another status, one on its way may be what the API will show.
	default:
		// The library keeps it for as long as the Pod lives, for its status and
		// metadata alone.
		pod.Spec = corev1.PodSpec{}
		p.pods.tell(key)
		(*publish)(pod)
	}
}

// says reports whether the status states something.
func says(status corev1.PodStatus) bool {
	return status.Phase != corev1.PodPending || status.Message != ""
}
