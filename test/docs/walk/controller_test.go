// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	sandboxes = schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}
	pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// runController simulates the agent-sandbox controller: it creates each Sandbox's Pod from
// its template, and again when the Pod is gone. It ends with the test.
func runController(t *testing.T, c *cluster) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if err := reconcile(ctx, client); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				t.Logf("the stand-in controller: %v", err)
			}
		}, 300*time.Millisecond)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func reconcile(ctx context.Context, client dynamic.Interface) error {
	list, err := client.Resource(sandboxes).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		owner := &list.Items[i]
		template, found, err := unstructured.NestedMap(owner.Object, "spec", "podTemplate")
		if err != nil || !found || owner.GetDeletionTimestamp() != nil {
			continue
		}
		made := &unstructured.Unstructured{Object: template}
		made.SetAPIVersion("v1")
		made.SetKind("Pod")
		made.SetName(owner.GetName())
		made.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
		_, err = client.Resource(pods).Namespace("default").Create(ctx, made, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
