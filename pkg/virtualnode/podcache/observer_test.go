// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// observed has one text for each call of an observer.
type observed struct{ calls []string }

func (o *observed) PodChanged(pod *corev1.Pod) {
	o.calls = append(o.calls, fmt.Sprintf("changed %s %s", pod.Name, pod.UID))
}

func (o *observed) PodGone(pod *corev1.Pod, seen bool) {
	o.calls = append(o.calls, fmt.Sprintf("gone %s %s seen=%t", pod.Name, pod.UID, seen))
}

func TestObserver(t *testing.T) {
	now := metav1.Now()
	deleting := func(p *corev1.Pod) { p.DeletionTimestamp = &now }
	gated := func(p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	}
	closed := func(p *corev1.Pod) { p.Status.Conditions[1].Status = corev1.ConditionFalse }
	recreated := func(p *corev1.Pod) { p.UID = "uid-2" }
	for name, tc := range map[string]struct {
		before *corev1.Pod
		act    func(w *watch.RaceFreeFakeWatcher, lists *[]corev1.Pod)
		want   []string
	}{
		"a Pod that lives": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) {
			w.Modify(fakecluster.PublishedPod(fakecluster.Running))
		}, nil},
		"its spec changes": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) {
			w.Modify(fakecluster.PublishedPod(func(p *corev1.Pod) { p.Generation = 2 }))
		}, []string{"changed my-sandbox uid-1"}},
		"a readiness gate changes": {fakecluster.PublishedPod(gated), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) {
			w.Modify(fakecluster.PublishedPod(gated, closed))
			w.Modify(fakecluster.PublishedPod(gated, closed, fakecluster.Running)) // as we write it
			w.Modify(fakecluster.PublishedPod(gated, fakecluster.Running))
		}, []string{"changed my-sandbox uid-1", "changed my-sandbox uid-1"}},
		"a condition that is no gate changes": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) {
			w.Modify(fakecluster.PublishedPod(closed))
		}, nil},
		"deleting at the start": {fakecluster.PublishedPod(deleting), nil, []string{"changed my-sandbox uid-1"}},
		"its deletion begins":   {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) { w.Modify(fakecluster.PublishedPod(deleting)) }, []string{"changed my-sandbox uid-1"}},
		"a deletion that was seen": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, _ *[]corev1.Pod) { w.Delete(fakecluster.PublishedPod()) },
			[]string{"gone my-sandbox uid-1 seen=true"}},
		"a list lacks it": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, list *[]corev1.Pod) { *list = nil; fakecluster.Expire(w) },
			[]string{"gone my-sandbox uid-1 seen=false"}},
		"a list has another of its name": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, list *[]corev1.Pod) {
			*list = []corev1.Pod{*fakecluster.PublishedPod(recreated)}
			fakecluster.Expire(w)
		}, []string{"gone my-sandbox uid-1 seen=false"}},
		"a list has another of its name, deleting": {fakecluster.PublishedPod(), func(w *watch.RaceFreeFakeWatcher, list *[]corev1.Pod) {
			*list = []corev1.Pod{*fakecluster.PublishedPod(recreated, deleting)}
			fakecluster.Expire(w)
		}, []string{"gone my-sandbox uid-1 seen=false", "changed my-sandbox uid-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, list := fake.NewClientset(), []corev1.Pod{*tc.before}
				var watcher *watch.RaceFreeFakeWatcher
				client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: list}, nil
				})
				client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
					watcher = watch.NewRaceFreeFake()
					return true, watcher, nil
				})
				observer := &observed{}
				pods := NewInformer(client, fakecluster.NodeName)
				if err := pods.Observe(observer); err != nil {
					t.Fatal(err)
				}
				pods.Start(t.Context())
				synctest.Wait()
				if tc.act != nil {
					tc.act(watcher, &list)
				}
				time.Sleep(5 * time.Minute) // with relists, and resyncs that are no change
				synctest.Wait()
				if diff := cmp.Diff(tc.want, observer.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}
