// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"errors"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/time/rate"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	// retryBase and retryMax bound the back-off of one key: short at first so that a
	// brief failure passes unnoticed, and never so long that a Pod starts late once its
	// cause is gone.
	retryBase = 5 * time.Millisecond
	retryMax  = 30 * time.Second
)

// newRateLimiter limits one pod queue: each key by its own back-off, all of
// them together by the configured rate.
func newRateLimiter(qps float64, burst int) workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[any](retryBase, retryMax),
		&workqueue.TypedBucketRateLimiter[any]{Limiter: rate.NewLimiter(rate.Limit(qps), burst)},
	)
}

// waiter is an error with the wait before the next attempt.
type waiter interface{ RetryAfter() time.Duration }

// retryForever returns the retry policy of the pod queues. A key is retried without end;
// the library's default silently drops it after 20 attempts. An error that asks for a
// wait gets it, or the key's own back-off if that is longer; every other error uses the
// rate limiter.
//
// A Pod that is being deleted does not wait. If processing a key fails, the library drops
// events that arrived meanwhile, so the deletion would wait as long as the failed create.
func retryForever(pods corev1listers.PodLister) node.ShouldRetryFunc {
	return func(_ context.Context, key string, tried int, _ time.Time, err error) (*time.Duration, error) {
		var w waiter
		if !errors.As(err, &w) || w.RetryAfter() <= 0 || deleting(pods, key) {
			return nil, nil
		}
		wait := max(w.RetryAfter(), backoff(tried))
		return &wait, nil
	}
}

// backoff is the back-off of a key that has failed for the nth time.
func backoff(n int) time.Duration {
	d := retryBase
	for ; n > 1 && d < retryMax; n-- {
		d *= 2
	}
	return min(d, retryMax)
}

func deleting(pods corev1listers.PodLister, key string) bool {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return false
	}
	pod, err := pods.Pods(name.Namespace).Get(name.Name)
	return err == nil && pod.DeletionTimestamp != nil
}
