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

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// A Pod that is edited without a pause is written in the end, and is not asked
// about more often than it changes.
func TestAStatusOfAPodThatIsEditedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(fakecluster.PublishedPod()), newFakeProvider(nil)
		fakecluster.WithVersions(client)
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
			return true, nil, apierrors.NewConflict(corev1.Resource("pods"), "my-sandbox", errors.New("the object has been modified"))
		})
		provider.publish(fakecluster.ReportedPod())
		time.Sleep(time.Minute)
		pod := fakecluster.StoredPod(t, client)
		if pod.Status.Phase != corev1.PodRunning || pod.Annotations["user"] != "120" {
			t.Errorf("status = %+v, annotations = %v, want it Running and the last edit", pod.Status, pod.Annotations)
		}
		requests := 0
		for _, p := range fakecluster.Patches(client) {
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
		client := fake.NewClientset(fakecluster.PublishedPod())
		fakecluster.WithVersions(client)
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
		if pod := fakecluster.StoredPod(t, client); pod.Status.Reason != "ProviderFailed" || pod.Annotations["user"] != "edited" {
			t.Errorf("status = %+v, annotations = %v, want the reason and the edit", pod.Status, pod.Annotations)
		}
	})
}
