// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/podcache"
	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestPodReachesProviderAndStatusReachesAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(fakecluster.PublishedPod()), newFakeProvider(nil)
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(time.Second)
		if got := provider.created(); got != 1 {
			t.Fatalf("%d creates, want 1", got)
		}
		provider.publish(fakecluster.ReportedPod())
		time.Sleep(time.Second)
		pod := fakecluster.StoredPod(t, client)
		if pod.Status.Phase != corev1.PodRunning || pod.Annotations["sandbox.cocoonstack.io/claim-id"] != "sb_1" {
			t.Errorf("stored status = %+v, annotations = %v", pod.Status, pod.Annotations)
		}
		if pod.Labels["app"] != "user" || pod.Annotations["user"] != "note" {
			t.Errorf("metadata of others was reverted: %v %v", pod.Labels, pod.Annotations)
		}
	})
}

// What the account may not do is not asked for: RBAC grants no right on
// Secrets, ConfigMaps and Services, none to read or update a Pod singly.
func TestRequestsOfTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := fakecluster.PublishedPod(func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Name: "agent", Env: []corev1.EnvVar{
				{Name: "S", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}},
				{Name: "C", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "k"}}},
				{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			}}}
		})
		client, provider := fake.NewClientset(pod), newFakeProvider(nil)
		v := startControl(t, client, provider, func(c *Config) { c.HostID = "host-a" })
		<-v.Registered()
		time.Sleep(time.Hour)
		if provider.created() != 1 {
			t.Fatal("an environment that cannot be resolved kept the Pod from the provider")
		}
		allowed := map[string]bool{
			"list pods": true, "watch pods": true, "patch pods/status": true, "delete pods": true,
			"list nodes": true, "watch nodes": true, "get nodes": true, "create nodes": true, "patch nodes/status": true, "patch nodes": true,
			"get leases": true, "create leases": true, "update leases": true,
		}
		for _, a := range client.Actions() {
			request := a.GetVerb() + " " + a.GetResource().Resource
			if a.GetSubresource() != "" {
				request += "/" + a.GetSubresource()
			}
			if !allowed[request] {
				t.Errorf("unexpected request: %s", request)
			}
			only := map[string]string{"pods": "spec.nodeName=host-1-sandboxd", "nodes": "metadata.name=host-1-sandboxd"}[a.GetResource().Resource]
			if l, ok := a.(clienttesting.ListAction); ok && l.GetListRestrictions().Fields.String() != only {
				t.Errorf("%s with field selector %q, want %q", request, l.GetListRestrictions().Fields, only)
			}
		}
	})
}

func TestFailingPodIsNeverForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(fakecluster.PublishedPod())
		provider := newFakeProvider(func(attempt int, _ *corev1.Pod) error {
			if attempt <= 60 {
				return errors.New("no warm capacity")
			}
			return nil
		})
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(10 * time.Minute) // 20 failures are behind us, the library's default would have given up
		if got := provider.created(); got <= 20 || got >= 60 {
			t.Fatalf("%d creates after ten minutes, want between 20 and 60: retried, and with a back-off", got)
		}
		pod := fakecluster.StoredPod(t, client)
		if pod.Status.Phase != corev1.PodPending || pod.Status.Message != "no warm capacity" {
			t.Errorf("status = %+v, want Pending with the reason", pod.Status)
		}
		time.Sleep(30 * time.Minute)
		if got := provider.created(); got != 61 {
			t.Errorf("%d creates, want 61", got)
		}
	})
}

func TestRetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(fakecluster.PublishedPod())
		var at []time.Time
		provider := newFakeProvider(func(int, *corev1.Pod) error {
			at = append(at, time.Now())
			return busy(90 * time.Second)
		})
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(at) < 5 {
			t.Fatalf("%d attempts in ten minutes", len(at))
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < 90*time.Second {
				t.Errorf("attempt %d came after %v, sandboxd asked for 90 s", i+1, gap)
			}
		}
	})
}

func TestDeletionDoesNotSitOutTheWaitOfACreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(fakecluster.PublishedPod())
		provider := newFakeProvider(func(int, *corev1.Pod) error {
			time.Sleep(10 * time.Second) // the deletion arrives meanwhile
			return busy(time.Hour)
		})
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(5 * time.Second)
		pod := fakecluster.StoredPod(t, client)
		now, grace := metav1.NewTime(time.Now().Truncate(time.Second)), int64(0) // as the API stores it
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, &grace
		if _, err := client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := client.CoreV1().Pods("default").Get(t.Context(), "my-sandbox", metav1.GetOptions{}); err == nil {
			t.Error("the Pod is still there a minute after its deletion")
		}
	})
}

// The status of a Pod that the library does not know yet is dropped by it; a
// provider that notifies again is heard, and the informer's resync compares.
func TestStatusRevertedByOthersIsPublishedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(fakecluster.PublishedPod()), newFakeProvider(nil)
		v := startControl(t, client, provider, nil)
		<-v.Registered()
		time.Sleep(time.Second)
		provider.publish(fakecluster.ReportedPod())
		time.Sleep(time.Second)
		pod := fakecluster.StoredPod(t, client)
		pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodPending, "", nil
		if _, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		provider.publish(fakecluster.ReportedPod())
		time.Sleep(2*podcache.ResyncPeriod + time.Second) // a resync that just misses a handler takes the next
		if got := fakecluster.StoredPod(t, client).Status; got.Phase != corev1.PodRunning || got.PodIP != "10.0.0.5" {
			t.Errorf("status = %+v, want it Running again", got)
		}
	})
}

func TestPodEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := record.NewFakeRecorder(10)
		provider := newFakeProvider(func(attempt int, _ *corev1.Pod) error {
			if attempt == 1 {
				return errors.New("first")
			}
			return nil
		})
		v := startControl(t, fake.NewClientset(fakecluster.PublishedPod()), provider, func(c *Config) { c.Recorder = events })
		<-v.Registered()
		time.Sleep(time.Minute)
		got := fakecluster.Recorded(events)
		if len(got) != 2 || got[0] != "Warning ProviderCreateFailed first" || !strings.HasPrefix(got[1], "Normal ") {
			t.Errorf("events = %q, want the failed create and then the one that succeeded", got)
		}
	})
}

// A daemon that starts takes up all its Pods, and nothing has happened to them.
func TestNoEventForAPodThatRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := record.NewFakeRecorder(10)
		ran := fakecluster.PublishedPod()
		ran.Status.Phase = corev1.PodRunning
		provider := newFakeProvider(nil)
		v := startControl(t, fake.NewClientset(ran), provider, func(c *Config) { c.Recorder = events })
		<-v.Registered()
		time.Sleep(time.Minute)
		if got := fakecluster.Recorded(events); provider.created() != 1 || len(got) != 0 {
			t.Errorf("%d Pods were created, with the events %q, want one without", provider.created(), got)
		}
	})
}

func TestForeignNodeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(fakecluster.PublishedPod(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fakecluster.NodeName, UID: "node-uid", Labels: map[string]string{"kubernetes.io/os": "linux"},
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, done := runControl(ctx, t, client, newFakeProvider(nil), nil); <-done == nil {
			t.Fatal("a node of another kind was taken over")
		}
		for _, a := range client.Actions() {
			if a.GetVerb() != "get" || a.GetResource().Resource != "nodes" {
				t.Errorf("request after the name was refused: %s %s", a.GetVerb(), a.GetResource().Resource)
			}
		}
	})
}
