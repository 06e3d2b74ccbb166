// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

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

func TestInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "host-1-sandboxd"
		client := fake.NewClientset()
		informer := NewInformer(client, name)
		if _, err := informer.Get(); !errors.Is(err, errNotWatching) || informer.missing() {
			t.Errorf("before the watch: error %v, missing %t", err, informer.missing())
		}
		informer.Start(t.Context())
		synctest.Wait()
		if _, err := informer.Get(); !apierrors.IsNotFound(err) || !informer.missing() {
			t.Errorf("without a Node: error %v, missing %t", err, informer.missing())
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "a", Labels: map[string]string{"a": "b"}}}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got, err := informer.Get()
		if err != nil || got.UID != "a" || informer.missing() {
			t.Fatalf("with a Node: %v, error %v, missing %t", got, err, informer.missing())
		}
		got.Labels["a"] = "changed"
		if again, _ := informer.Get(); again.Labels["a"] != "b" {
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
