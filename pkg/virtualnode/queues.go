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
	// retryBase and retryMax are the back-off of one key: short enough at
	// first for a hiccup to pass unnoticed, and at the end for a Pod to run
	// soon after what it waited for is back.
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

// waiter is an error that says how long to wait before the next attempt.
type waiter interface{ RetryAfter() time.Duration }

// retryForever returns the retry policy of the pod queues. A key is never
// given up; the library's default forgets it silently after 20 attempts. An
// error that asks for a wait gets it, or the key's own back-off if that is
// longer; every other error is left to the rate limiter.
//
// A Pod that is being deleted does not wait. The library forgets an event that arrives
// while its key is processed, if the processing fails, so the deletion would wait as
// long as the create that failed.
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
