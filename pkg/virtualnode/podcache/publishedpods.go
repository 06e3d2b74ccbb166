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
	// recentWrites and recentFor bound what is remembered of our own writes
	// until the watch brings them back: some seconds of the status queue at
	// its default rate.
	recentWrites = 512
	recentFor    = time.Minute
	// newerPoll and newerWithin pace the wait for the watch to show a change that
	// the API server has already refused a write for. It is milliseconds behind
	// as a rule; a worker is not kept for longer.
	newerPoll   = 10 * time.Millisecond
	newerWithin = 2 * time.Second
)

// publishedPods has the newest known version of each Pod: the informer's copy, or the
// answer to our own last write if that is newer. A patch
// against an older copy could leave behind what that write had set: the
// ProviderFailed of a create that succeeded at the second attempt, a moment later.
type publishedPods struct{ newest cache.MutationCache }

func newPublishedPods(watched cache.Store) *publishedPods {
	return &publishedPods{cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), watched,
		cache.MutationCacheOptions{TTL: recentFor, MaxCacheSize: recentWrites})}
}

// get returns a Pod, which must not be changed; nil if there is none.
func (p *publishedPods) get(name types.NamespacedName) (*corev1.Pod, error) {
	object, _, err := p.newest.GetByKey(name.String())
	if err != nil {
		return nil, fmt.Errorf("look up the published pod: %w", err)
	}
	pod, _ := object.(*corev1.Pod)
	return pod, nil
}

// awaitNewer waits until another version of base is known, and reports whether that
// happened within [newerWithin]: the watch shows another version or another Pod under
// the name, or none.
func (p *publishedPods) awaitNewer(ctx context.Context, base *corev1.Pod) bool {
	name := types.NamespacedName{Namespace: base.Namespace, Name: base.Name}
	err := wait.PollUntilContextTimeout(ctx, newerPoll, newerWithin, true, func(context.Context) (bool, error) {
		now, err := p.get(name)
		return now == nil || now.UID != base.UID || now.ResourceVersion != base.ResourceVersion, err
	})
	return err == nil
}

// note remembers the answer to a write, which is stripped as the watched Pods are.
func (p *publishedPods) note(answer *corev1.Pod) {
	stripPod(answer)
	p.newest.Mutation(answer)
}
