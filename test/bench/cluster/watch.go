// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Observer notes when the bench itself saw what became of each Pod, by one
// clock and in one way for both subjects.
type Observer struct {
	pods   corev1client.PodInterface
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	moments map[string]moments // by name
	bound   int
	running int
	gone    int
	last    time.Time // of the newest Running, or of the newest end
	err     error
	moved   chan struct{}
	// places are for Pods that are not Running; nil for any number.
	places *semaphore.Weighted
}

// moments are when an event showed each for the first time.
type moments struct{ bound, running time.Time }

// Observe watches the Pods of the namespace, which has none yet. It admits so many
// that are not Running; any number for zero.
func (c *Cluster) Observe(ctx context.Context, waiting int) (*Observer, error) {
	pods := c.Client.CoreV1().Pods(Name)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if len(list.Items) > 0 {
		return nil, fmt.Errorf("namespace %s has %d Pods before the first is made", Name, len(list.Items))
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &Observer{pods: pods, cancel: cancel, done: make(chan struct{}), moments: map[string]moments{}, moved: make(chan struct{}, 1)}
	if waiting > 0 {
		o.places = semaphore.NewWeighted(int64(waiting))
	}
	go o.run(ctx, list.ResourceVersion)
	return o, nil
}

// Admit waits until another Pod may be made.
func (o *Observer) Admit(ctx context.Context) error {
	if o.places == nil {
		return nil
	}
	return o.places.Acquire(ctx, 1)
}

// run watches from a resource version until ctx ends. The API server closes a
// watch that falls behind a few events, as happens under a burst; the next one
// goes on at once where it ended. client-go's own retrying watch waits a second
// first, which would be in the figures.
func (o *Observer) run(ctx context.Context, version string) {
	defer close(o.done)
	for ctx.Err() == nil {
		w, err := o.pods.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			o.fail(err)
			return
		}
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				o.fail(apierrors.FromObject(event.Object))
				w.Stop()
				return
			}
			version = pod.ResourceVersion
			o.note(event.Type, pod, time.Now())
		}
	}
}

func (o *Observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = fmt.Errorf("watch the Pods: %w", err)
	o.signal()
}

func (o *Observer) note(kind watch.EventType, pod *corev1.Pod, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.signal()
	if kind == watch.Deleted {
		o.gone++
		o.last = now
		return
	}
	m := o.moments[pod.Name]
	if m.bound.IsZero() && pod.Spec.NodeName != "" {
		m.bound = now
		o.bound++
	}
	if m.running.IsZero() && pod.Status.Phase == corev1.PodRunning {
		m.running = now
		o.running++
		o.last = now
		if o.places != nil {
			o.places.Release(1)
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		o.err = fmt.Errorf("the Pod %s has failed: %s", pod.Name, pod.Status.Message)
	}
	o.moments[pod.Name] = m
}

func (o *Observer) signal() {
	select {
	case o.moved <- struct{}{}:
	default:
	}
}

// WaitBound waits until n Pods have a node.
func (o *Observer) WaitBound(ctx context.Context, n int) error {
	_, err := o.wait(ctx, "bound", n, func() int { return o.bound })
	return err
}

// WaitRunning waits for n Pods, and returns when the last was seen Running.
func (o *Observer) WaitRunning(ctx context.Context, n int) (time.Time, error) {
	return o.wait(ctx, "Running", n, func() int {
		if o.gone > 0 {
			o.err = fmt.Errorf("%d Pods have gone before all were Running", o.gone)
		}
		return o.running
	})
}

// WaitGone waits for the end of n Pods, and returns when the last was seen to go.
func (o *Observer) WaitGone(ctx context.Context, n int) (time.Time, error) {
	return o.wait(ctx, "gone", n, func() int { return o.gone })
}

func (o *Observer) wait(ctx context.Context, what string, n int, reached func() int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	for {
		o.mu.Lock()
		got, last, err := reached(), o.last, o.err
		o.mu.Unlock()
		switch {
		case err != nil:
			return last, err
		case got == n:
			return last, nil
		case got > n:
			return last, fmt.Errorf("%d Pods are %s, want %d", got, what, n)
		}
		select {
		case <-o.moved:
		case <-ctx.Done():
			return last, fmt.Errorf("%d of %d Pods are %s: %w", got, n, what, ctx.Err())
		}
	}
}

// Latencies are the times from bound to Running in seconds, in the order in
// which the Pods were bound.
func (o *Observer) Latencies() []float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []moments
	for _, m := range o.moments {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b moments) int { return a.bound.Compare(b.bound) })
	var out []float64
	for _, m := range all {
		out = append(out, m.running.Sub(m.bound).Seconds())
	}
	return out
}

// Stop ends the watch.
func (o *Observer) Stop() {
	o.cancel()
	<-o.done
}
