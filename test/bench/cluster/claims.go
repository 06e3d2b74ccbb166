// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// pool is the name of the warm pool and of its template.
const pool = "bench"

var (
	extensions = schema.GroupVersion{Group: "extensions.agents.x-k8s.io", Version: "v1beta1"}
	templates  = extensions.WithResource("sandboxtemplates")
	warmPools  = extensions.WithResource("sandboxwarmpools")
	claims     = extensions.WithResource("sandboxclaims")
)

// FillPool makes a warm pool of so many Sandboxes on the node, and returns when all of
// them are Ready.
func (c *Cluster) FillPool(ctx context.Context, node string, n int) error {
	pod := newPod(pool, node)
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod.Spec)
	if err != nil {
		return err
	}
	annotations := map[string]any{}
	for key, value := range pod.Annotations {
		annotations[key] = value
	}
	template := map[string]any{"podTemplate": map[string]any{"metadata": map[string]any{"annotations": annotations}, "spec": spec}}
	if err := c.create(ctx, templates, "SandboxTemplate", pool, template); err != nil {
		return err
	}
	warm := map[string]any{"replicas": int64(n), "sandboxTemplateRef": map[string]any{"name": pool}}
	if err := c.create(ctx, warmPools, "SandboxWarmPool", pool, warm); err != nil {
		return err
	}
	return Poll(ctx, 200*time.Millisecond, func(ctx context.Context) error {
		object, err := c.dynamic.Resource(warmPools).Namespace(Name).Get(ctx, pool, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if ready, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas"); ready != int64(n) {
			return fmt.Errorf("%d of %d Sandboxes of the warm pool are Ready", ready, n)
		}
		return nil
	})
}

func (c *Cluster) create(ctx context.Context, resource schema.GroupVersionResource, kind, name string, spec map[string]any) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}
	_, err := c.dynamic.Resource(resource).Namespace(Name).Create(ctx, object, metav1.CreateOptions{})
	return err
}

// ClaimAll creates so many SandboxClaims of the pool and returns the time of each in
// seconds, from the request to the Ready condition as a watch shows it.
func (c *Cluster) ClaimAll(ctx context.Context, n int) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, WaitTimeout)
	defer cancel()
	o := &claimObserver{begun: make([]time.Time, n), ready: map[string]time.Time{}, all: make(chan struct{}), want: n}
	stop, err := c.observeClaims(ctx, o)
	if err != nil {
		return nil, err
	}
	defer stop()
	err = each(ctx, n, func(ctx context.Context, i int) error {
		o.begun[i] = time.Now()
		return c.create(ctx, claims, "SandboxClaim", claimName(i), map[string]any{"warmPoolRef": map[string]any{"name": pool}})
	})
	if err != nil {
		return nil, fmt.Errorf("create the SandboxClaims: %w", err)
	}
	select {
	case <-o.all:
		return o.latencies(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%d of %d SandboxClaims are Ready: %w", len(o.latencies()), n, ctx.Err())
	}
}

func claimName(i int) string { return fmt.Sprintf("claim-%05d", i) }

// EmptyPool deletes the SandboxClaims and the pool, and returns when no Pod is left.
func (c *Cluster) EmptyPool(ctx context.Context) error {
	background := metav1.DeletePropagationBackground
	for _, resource := range []schema.GroupVersionResource{warmPools, claims, templates} {
		objects := c.dynamic.Resource(resource).Namespace(Name)
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		// One request for all would take longer than the API server allows.
		err = each(ctx, len(list.Items), func(ctx context.Context, i int) error {
			return objects.Delete(ctx, list.Items[i].GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
		})
		if err != nil {
			return err
		}
	}
	return Poll(ctx, 200*time.Millisecond, func(ctx context.Context) error {
		list, err := c.Client.CoreV1().Pods(Name).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("%d Pods of the warm pool are left", len(list.Items))
		}
		return err
	})
}

// observeClaims tells the observer of each SandboxClaim until stop is called.
func (c *Cluster) observeClaims(ctx context.Context, o *claimObserver) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	informer := dynamicinformer.NewFilteredDynamicInformer(c.dynamic, claims, Name, 0, cache.Indexers{}, nil).Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    o.note,
		UpdateFunc: func(_, now any) { o.note(now) },
	})
	if err != nil {
		cancel()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.RunWithContext(ctx)
	}()
	stop = func() { cancel(); <-done }
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		stop()
		return nil, fmt.Errorf("watch the SandboxClaims: %w", ctx.Err())
	}
	return stop, nil
}

// claimObserver notes when each SandboxClaim was first seen Ready.
type claimObserver struct {
	// begun is written before its claim is created, and so before it is seen.
	begun []time.Time

	mu    sync.Mutex
	ready map[string]time.Time // by name
	want  int
	all   chan struct{}
}

func (o *claimObserver) note(object any) {
	claim, ok := object.(*unstructured.Unstructured)
	if !ok || !conditionTrue(claim, "Ready") {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.ready[claim.GetName()]; ok {
		return
	}
	o.ready[claim.GetName()] = time.Now()
	if len(o.ready) == o.want {
		close(o.all)
	}
}

func (o *claimObserver) latencies() (seconds []float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, begun := range o.begun {
		if ready, ok := o.ready[claimName(i)]; ok {
			seconds = append(seconds, ready.Sub(begun).Seconds())
		}
	}
	return seconds
}

// conditionTrue reports whether a condition of the object is True.
func conditionTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		if c, ok := each.(map[string]any); ok && c["type"] == kind {
			return c["status"] == string(metav1.ConditionTrue)
		}
	}
	return false
}
