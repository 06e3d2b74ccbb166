// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// changeUnseen changes the Pod at the API server, and shows the change to the
// informer later, or never when that is zero.
func changeUnseen(t *testing.T, client *fake.Clientset, pods *Informer, later time.Duration, change func(*corev1.Pod)) {
	t.Helper()
	pod := fakecluster.StoredPod(t, client)
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
		"it has failed":                        {failed, fakecluster.ReportedPod(), 50 * time.Millisecond, 1, false, corev1.PodFailed},
		"it has failed, only a condition goes": {failed, fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status.Message = "waits" }), 50 * time.Millisecond, 1, false, corev1.PodFailed},
		"it has failed, and nobody shows that": {failed, fakecluster.ReportedPod(), 0, 1, true, corev1.PodFailed},
		"it was annotated":                     {annotated, fakecluster.ReportedPod(), 50 * time.Millisecond, 2, false, corev1.PodRunning},
		"it was replaced":                      {func(p *corev1.Pod) { p.UID = "uid-2" }, fakecluster.ReportedPod(), 50 * time.Millisecond, 1, false, corev1.PodPending},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, client, pods := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
				fakecluster.WithVersions(client)
				changeUnseen(t, client, pods, tc.later, tc.change)
				_, err := g.Pods("default").UpdateStatus(t.Context(), tc.reported, metav1.UpdateOptions{})
				if apierrors.IsConflict(err) != tc.conflict || err != nil && !tc.conflict {
					t.Errorf("error = %v, want a conflict: %t", err, tc.conflict)
				}
				if got := len(fakecluster.Patches(client)); got != tc.patches {
					t.Errorf("%d requests, want %d", got, tc.patches)
				}
				pod := fakecluster.StoredPod(t, client)
				if pod.Status.Phase != tc.want || tc.want == corev1.PodFailed && (pod.Status.Reason != "Evicted" || pod.Status.Message != "" || pod.Status.PodIP != "") {
					t.Errorf("status = %+v, want %s as it was", pod.Status, tc.want)
				}
			})
		})
	}
}
