// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// recentWrites and recentFor bound the cache of our own writes that the watch has not
	// shown yet: some seconds of the status queue at its default rate.
	recentWrites = 512
	recentFor    = time.Minute
	// newerPoll and newerWithin pace the wait for the watch to show a change after a
	// conflict. The watch is normally milliseconds behind; a worker waits no longer than
	// newerWithin.
	newerPoll   = 10 * time.Millisecond
	newerWithin = 2 * time.Second
)

// publishedPods has the newest known version of each Pod: the informer's copy, or the
// answer to our own last write if that is newer. A patch against an older copy could
// leave fields of that write behind, for example ProviderFailed of a create whose second
// attempt succeeded a moment later.
type publishedPods struct{ newest cache.MutationCache }

func newPublishedPods(watched cache.Store) *publishedPods {
	return &publishedPods{cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), watched,
		cache.MutationCacheOptions{TTL: recentFor, MaxCacheSize: recentWrites})}
}

// get returns a Pod, which must not be modified; nil if there is none.
func (p *publishedPods) get(name types.NamespacedName) (*corev1.Pod, error) {
	object, _, err := p.newest.GetByKey(name.String())
	if err != nil {
		return nil, fmt.Errorf("look up the published pod: %w", err)
	}
	pod, _ := object.(*corev1.Pod)
	return pod, nil
}

// awaitNewer waits until a version of base other than its own is known, at most
// [newerWithin], and reports whether that happened: the watch shows another version,
// another Pod of the name, or none.
func (p *publishedPods) awaitNewer(ctx context.Context, base *corev1.Pod) bool {
	name := types.NamespacedName{Namespace: base.Namespace, Name: base.Name}
	err := wait.PollUntilContextTimeout(ctx, newerPoll, newerWithin, true, func(context.Context) (bool, error) {
		now, err := p.get(name)
		return now == nil || now.UID != base.UID || now.ResourceVersion != base.ResourceVersion, err
	})
	return err == nil
}

// note caches the answer to a write, stripped like the watched Pods.
func (p *publishedPods) note(answer *corev1.Pod) {
	stripPod(answer)
	p.newest.Mutation(answer)
}
