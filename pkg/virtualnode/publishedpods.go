// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// publishedPods is the Pods as the API server has them, as far as is known: of each
// the newer of the informer's copy and the answer to our own last write. A patch
// against an older copy could leave behind what that write had set: the
// ProviderFailed of a create that succeeded at the second attempt, a moment later.
type publishedPods struct{ newest cache.MutationCache }

func newPublishedPods(watched cache.Store) *publishedPods {
	return &publishedPods{cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), watched,
		cache.MutationCacheOptions{TTL: recentFor, MaxCacheSize: recentWrites})}
}

// get returns a Pod, which is not to be changed; nil when there is none.
func (p *publishedPods) get(namespace, name string) (*corev1.Pod, error) {
	object, _, err := p.newest.GetByKey(namespace + "/" + name)
	if err != nil {
		return nil, fmt.Errorf("look up the published pod: %w", err)
	}
	pod, _ := object.(*corev1.Pod)
	return pod, nil
}

// awaitNewer waits until another copy of base is known, and reports whether that
// came to be within [newerWithin]: the watch shows the same name with another
// version, or without a Pod.
func (p *publishedPods) awaitNewer(ctx context.Context, base *corev1.Pod) bool {
	err := wait.PollUntilContextTimeout(ctx, newerPoll, newerWithin, true, func(context.Context) (bool, error) {
		now, err := p.get(base.Namespace, base.Name)
		return now == nil || now.UID != base.UID || now.ResourceVersion != base.ResourceVersion, err
	})
	return err == nil
}

// note remembers the answer to a write, which is stripped as the watched Pods are.
func (p *publishedPods) note(answer *corev1.Pod) {
	stripPod(answer)
	p.newest.Mutation(answer)
}
