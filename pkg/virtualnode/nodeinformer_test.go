// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestNodeInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "host-1-sandboxd"
		client := fake.NewClientset()
		informer := NewNodeInformer(client, name)
		if _, err := informer.Get(name); !errors.Is(err, errNotWatching) || informer.missing(name) {
			t.Errorf("before the watch: error %v, missing %t", err, informer.missing(name))
		}
		informer.factory.StartWithContext(t.Context())
		synctest.Wait()
		if _, err := informer.Get(name); !apierrors.IsNotFound(err) || !informer.missing(name) {
			t.Errorf("without a Node: error %v, missing %t", err, informer.missing(name))
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "a", Labels: map[string]string{"a": "b"}}}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, err := informer.Get(name)
		if err != nil || got.UID != "a" || informer.missing(name) {
			t.Fatalf("with a Node: %v, error %v, missing %t", got, err, informer.missing(name))
		}
		got.Labels["a"] = "changed"
		if again, _ := informer.Get(name); again.Labels["a"] != "b" {
			t.Error("a write to the copy reached the original")
		}
		for _, a := range client.Actions() {
			var fields string
			switch a := a.(type) {
			case clienttesting.ListActionImpl:
				fields = a.GetListRestrictions().Fields.String()
			case clienttesting.WatchActionImpl:
				fields = a.GetWatchRestrictions().Fields.String()
			default:
				continue
			}
			if fields != "metadata.name="+name {
				t.Errorf("%s of Nodes with the field selector %q", a.GetVerb(), fields)
			}
		}
	})
}
