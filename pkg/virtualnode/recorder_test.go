// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestWarningsOnly(t *testing.T) {
	events := record.NewFakeRecorder(10)
	r := warningsOnly{events}
	for _, kind := range []string{corev1.EventTypeNormal, corev1.EventTypeWarning} {
		r.Event(fakecluster.PublishedPod(), kind, "One", "m")
		r.Eventf(fakecluster.PublishedPod(), kind, "Two", "%s", "m")
		r.AnnotatedEventf(fakecluster.PublishedPod(), nil, kind, "Three", "%s", "m")
	}
	got := fakecluster.Recorded(events)
	if want := []string{"Warning One m", "Warning Two m", "Warning Three m"}; !slices.Equal(got, want) {
		t.Errorf("events = %q, want %q", got, want)
	}
}

func TestNewRecorderWritesToTheAPIServer(t *testing.T) {
	for name, tc := range map[string]struct {
		onlyWarnings bool
		want         []string
	}{
		"all":           {false, []string{"Expected", "Failure"}},
		"only warnings": {true, []string{"Failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				recorder, stop := NewRecorder(t.Context(), client, "host-1-sandboxd", tc.onlyWarnings)
				defer stop()
				recorder.Event(fakecluster.PublishedPod(), corev1.EventTypeNormal, "Expected", "message")
				time.Sleep(time.Millisecond) // an event's name has its time
				recorder.Event(fakecluster.PublishedPod(), corev1.EventTypeWarning, "Failure", "message")
				synctest.Wait()
				list, err := client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range list.Items {
					if e.Source.Component != "vk-sandbox" || e.Source.Host != "host-1-sandboxd" || e.InvolvedObject.UID != "uid-1" {
						t.Errorf("event = %+v", e)
					}
					got = append(got, e.Reason)
				}
				slices.Sort(got)
				if !slices.Equal(got, tc.want) {
					t.Errorf("events %q, want %q", got, tc.want)
				}
			})
		})
	}
}
