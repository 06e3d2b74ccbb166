// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

type busy time.Duration

func (b busy) Error() string             { return "busy" }
func (b busy) RetryAfter() time.Duration { return time.Duration(b) }

func podLister(t *testing.T, pods ...*corev1.Pod) corev1listers.PodLister {
	t.Helper()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, p := range pods {
		if err := store.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return corev1listers.NewPodLister(store)
}

func TestRetryForever(t *testing.T) {
	now := metav1.Now()
	lister := podLister(t, fakecluster.PublishedPod(),
		fakecluster.PublishedPod(func(p *corev1.Pod) { p.Name, p.DeletionTimestamp = "leaving", &now }))
	for name, tc := range map[string]struct {
		key   string
		tried int
		err   error
		want  time.Duration // 0: the rate limiter's
	}{
		"a plain error":                   {"default/my-sandbox", 1, errors.New("boom"), 0},
		"the library's last attempt":      {"default/my-sandbox", 20, errors.New("boom"), 0},
		"the millionth attempt":           {"default/my-sandbox", 1_000_000, errors.New("boom"), 0},
		"a wait is kept":                  {"default/my-sandbox", 1, busy(7 * time.Second), 7 * time.Second},
		"a wrapped wait is kept":          {"default/my-sandbox", 1, fmt.Errorf("create: %w", busy(7*time.Second)), 7 * time.Second},
		"a long wait is kept":             {"default/my-sandbox", 30, busy(4 * time.Minute), 4 * time.Minute},
		"no wait asked for":               {"default/my-sandbox", 1, busy(0), 0},
		"a wait in the past":              {"default/my-sandbox", 1, busy(-time.Second), 0},
		"back-off longer than the wait":   {"default/my-sandbox", 50, busy(time.Second), 30 * time.Second},
		"a Pod being deleted waits less":  {"default/leaving", 1, busy(7 * time.Second), 0},
		"an unknown Pod keeps the wait":   {"default/gone", 1, busy(7 * time.Second), 7 * time.Second},
		"a key of the deletion queue":     {"default/my-sandbox/uid-1", 1, busy(7 * time.Second), 7 * time.Second},
		"millionth attempt with its wait": {"default/my-sandbox", 1_000_000, busy(time.Minute), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			wait, err := retryForever(lister)(t.Context(), tc.key, tc.tried, time.Time{}, tc.err)
			if err != nil {
				t.Fatalf("the key is given up: %v", err)
			}
			var got time.Duration
			if wait != nil {
				got = *wait
			}
			if got != tc.want {
				t.Errorf("wait = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRateLimiterBacksOffPerKey(t *testing.T) {
	limiter := newRateLimiter(1e6, 1e6)
	want := 5 * time.Millisecond
	for i := range 40 {
		if got := limiter.When("a"); got != want {
			t.Fatalf("failure %d: wait = %v, want %v", i+1, got, want)
		}
		if b := backoff(i + 1); b != want {
			t.Fatalf("backoff(%d) = %v, but the limiter waits %v", i+1, b, want)
		}
		want = min(2*want, 30*time.Second)
	}
	if got := limiter.When("b"); got != 5*time.Millisecond {
		t.Errorf("another key waits %v", got)
	}
	limiter.Forget("a")
	if got := limiter.When("a"); got != 5*time.Millisecond {
		t.Errorf("after success the key waits %v", got)
	}
}

func TestRateLimiterBoundsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newRateLimiter(2, 3)
		for i := range 3 {
			if got := limiter.When(i); got != 5*time.Millisecond {
				t.Errorf("key %d of the burst waits %v", i, got)
			}
		}
		if got := limiter.When("over"); got != 500*time.Millisecond {
			t.Errorf("the key after the burst waits %v, want half a second", got)
		}
	})
}
