// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestListerReturnsCopies(t *testing.T) {
	informer := NewInformer(fake.NewClientset(), fakecluster.NodeName)
	if err := informer.Informer().GetStore().Add(fakecluster.PublishedPod()); err != nil {
		t.Fatal(err)
	}
	lister := informer.Lister()
	one, err := lister.Pods("default").Get("my-sandbox")
	if err != nil {
		t.Fatal(err)
	}
	all, err := lister.List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	some, err := lister.Pods("default").List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || len(some) != 1 {
		t.Fatalf("listed %d and %d pods, want 1 and 1", len(all), len(some))
	}
	one.Status.Reason, all[0].Status.Reason, some[0].Status.Reason = "x", "x", "x"
	again, err := lister.Pods("default").Get("my-sandbox")
	if err != nil {
		t.Fatal(err)
	}
	if again.Status.Reason != "" {
		t.Error("a write to a listed Pod reached the cache")
	}
}
