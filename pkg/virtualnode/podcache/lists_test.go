// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// A watch that ends and goes on is no list; one that cannot go on is followed by one.
func TestListsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		watchers := make(chan *watch.RaceFreeFakeWatcher, 4)
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}, nil
		})
		client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
			w := watch.NewRaceFreeFake()
			watchers <- w
			return true, w, nil
		})
		pods := NewInformer(client, fakecluster.NodeName)
		pods.Start(t.Context())
		synctest.Wait()
		before := pods.Lists()
		if before == 0 {
			t.Fatal("the first list was not counted")
		}
		time.Sleep(2 * time.Minute)
		(<-watchers).Stop()
		time.Sleep(2 * time.Minute)
		if got := pods.Lists(); got != before {
			t.Errorf("%d lists after a watch that went on, want %d", got, before)
		}
		fakecluster.Expire(<-watchers)
		time.Sleep(2 * time.Minute)
		if got := pods.Lists(); got == before {
			t.Error("the list after an expired watch was not counted")
		}
	})
}
