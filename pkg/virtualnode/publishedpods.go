// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// recentWrites and recentFor bound what is remembered of our own writes
	// until the watch brings them back: some seconds of the status queue at
	// its default rate.
	recentWrites = 512
	recentFor    = time.Minute
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

// note remembers the answer to a write, which is stripped as the watched Pods are.
func (p *publishedPods) note(answer *corev1.Pod) {
	stripPod(answer)
	p.newest.Mutation(answer)
}
