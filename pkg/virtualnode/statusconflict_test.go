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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// changeUnseen changes the Pod at the API server, and shows the change to the
// informer later, or never when that is zero.
func changeUnseen(t *testing.T, client *fake.Clientset, pods *PodInformer, later time.Duration, change func(*corev1.Pod)) {
	t.Helper()
	pod := storedPod(t, client)
	change(pod)
	changed, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client.ClearActions()
	if later > 0 {
		time.AfterFunc(later, func() { _ = pods.Informer().GetStore().Update(changed) })
	}
}

func TestAStatusThatMeetsAChangedPod(t *testing.T) {
	failed := func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }
	annotated := func(p *corev1.Pod) { p.Annotations["user"] = "edited" }
	for name, tc := range map[string]struct {
		change   func(*corev1.Pod)
		reported *corev1.Pod
		later    time.Duration
		patches  int
		conflict bool
		want     corev1.PodPhase
	}{
		"it has failed":                        {failed, reportedPod(), 50 * time.Millisecond, 1, false, corev1.PodFailed},
		"it has failed, only a condition goes": {failed, publishedPod(func(p *corev1.Pod) { p.Status.Message = "waits" }), 50 * time.Millisecond, 1, false, corev1.PodFailed},
		"it has failed, and nobody shows that": {failed, reportedPod(), 0, 1, true, corev1.PodFailed},
		"it was annotated":                     {annotated, reportedPod(), 50 * time.Millisecond, 2, false, corev1.PodRunning},
		"it was replaced":                      {func(p *corev1.Pod) { p.UID = "uid-2" }, reportedPod(), 50 * time.Millisecond, 1, false, corev1.PodPending},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, client, pods := newStatusFixture(t, publishedPod(), publishedPod())
				withVersions(client)
				changeUnseen(t, client, pods, tc.later, tc.change)
				_, err := g.Pods("default").UpdateStatus(t.Context(), tc.reported, metav1.UpdateOptions{})
				if apierrors.IsConflict(err) != tc.conflict || err != nil && !tc.conflict {
					t.Errorf("error = %v, want a conflict: %t", err, tc.conflict)
				}
				if got := len(patches(client)); got != tc.patches {
					t.Errorf("%d requests, want %d", got, tc.patches)
				}
				pod := storedPod(t, client)
				if pod.Status.Phase != tc.want || tc.want == corev1.PodFailed && (pod.Status.Reason != "Evicted" || pod.Status.Message != "" || pod.Status.PodIP != "") {
					t.Errorf("status = %+v, want %s as it was", pod.Status, tc.want)
				}
			})
		})
	}
}

// A Pod that is edited without a pause is written in the end, and is not asked
// about more often than it changes.
func TestAStatusOfAPodThatIsEditedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(publishedPod()), newFakeProvider(nil)
		withVersions(client)
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(time.Second)
		client.ClearActions()
		conflicts, edits := 0, 20
		client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if conflicts == edits {
				return false, nil, nil
			}
			// Someone is first, each time.
			conflicts++
			edited, err := client.Tracker().Get(a.GetResource(), a.GetNamespace(), "my-sandbox")
			if err != nil {
				return true, nil, err
			}
			pod := edited.(*corev1.Pod)
			pod.ResourceVersion = fmt.Sprint(100 + conflicts)
			pod.Annotations["user"] = pod.ResourceVersion
			if err := client.Tracker().Update(a.GetResource(), pod, a.GetNamespace()); err != nil {
				return true, nil, err
			}
			return true, nil, apierrors.NewConflict(podResource, "my-sandbox", errors.New("the object has been modified"))
		})
		provider.publish(reportedPod())
		time.Sleep(time.Minute)
		pod := storedPod(t, client)
		if pod.Status.Phase != corev1.PodRunning || pod.Annotations["user"] != "120" {
			t.Errorf("status = %+v, annotations = %v, want it Running and the last edit", pod.Status, pod.Annotations)
		}
		requests := 0
		for _, p := range patches(client) {
			if p.GetResource().Resource == "pods" {
				requests++
			}
		}
		if requests != edits+1 {
			t.Errorf("%d requests for one status and %d conflicts", requests, edits)
		}
	})
}

// The report of a failed create is written by the library once only.
func TestTheReportOfAFailedCreateMeetsAChangedPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(publishedPod())
		withVersions(client)
		provider := newFakeProvider(func(attempt int, _ *corev1.Pod) error {
			if attempt == 1 {
				patch := []byte(`{"metadata":{"annotations":{"user":"edited"}}}`)
				if _, err := client.CoreV1().Pods("default").Patch(t.Context(), "my-sandbox", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					t.Error(err)
				}
			}
			return busy(time.Hour)
		})
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(time.Minute)
		if pod := storedPod(t, client); pod.Status.Reason != "ProviderFailed" || pod.Annotations["user"] != "edited" {
			t.Errorf("status = %+v, annotations = %v, want the reason and the edit", pod.Status, pod.Annotations)
		}
	})
}
