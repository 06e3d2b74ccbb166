// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

var podResource = schema.GroupResource{Resource: "pods"}

// newStatusFixture is a pod client over an informer cache that holds cached,
// and an API server that holds stored.
func newStatusFixture(t *testing.T, cached, stored *corev1.Pod) (corev1client.PodsGetter, *fake.Clientset, *Informer) {
	t.Helper()
	client := fake.NewClientset()
	if stored != nil {
		if err := client.Tracker().Add(stored); err != nil {
			t.Fatal(err)
		}
	}
	pods := NewInformer(client, fakecluster.NodeName)
	if cached != nil {
		if err := pods.Informer().GetStore().Add(cached); err != nil {
			t.Fatal(err)
		}
	}
	return pods.Client(client.CoreV1()), client, pods
}

// What was written counts at once, not when the watch has brought it back.
func TestShows(t *testing.T) {
	g, client, pods := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
	fakecluster.WithVersions(client)
	reported, other := fakecluster.ReportedPod(), fakecluster.ReportedPod()
	other.UID = "another"
	if pods.Shows(reported) {
		t.Error("a status that nobody has published is shown")
	}
	if _, err := g.Pods("default").UpdateStatus(t.Context(), reported, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if !pods.Shows(reported) {
		t.Error("the status is not shown after it was written")
	}
	if pods.Shows(other) {
		t.Error("the status of another Pod of the name is shown")
	}
	reported.Annotations = map[string]string{podcontract.AnnotationClaimID: "sb_another"}
	if pods.Shows(reported) {
		t.Error("another claim id is shown")
	}
	reported.Name = "nobody"
	if pods.Shows(reported) {
		t.Error("the status of a Pod that is not there is shown")
	}
}

func TestUpdateStatusPatches(t *testing.T) {
	g, client, _ := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
	if _, err := g.Pods("default").UpdateStatus(t.Context(), fakecluster.ReportedPod(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	sent := client.Actions()
	if len(sent) != 1 {
		t.Fatalf("requests = %v, want one patch", sent)
	}
	p, ok := sent[0].(clienttesting.PatchAction)
	if !ok || p.GetSubresource() != "status" || p.GetName() != "my-sandbox" || p.GetNamespace() != "default" {
		t.Fatalf("request = %v, want a patch of default/my-sandbox status", sent[0])
	}
	want, err := statusPatch(fakecluster.PublishedPod(), fakecluster.ReportedPod(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if string(p.GetPatch()) != string(want) {
		t.Errorf("patch = %s, want %s", p.GetPatch(), want)
	}
	got := fakecluster.StoredPod(t, client)
	if got.Status.Phase != corev1.PodRunning || got.Annotations["user"] != "note" || got.Labels["app"] != "user" {
		t.Errorf("stored pod = %+v", got)
	}
}

func TestUpdateStatusSendsNothing(t *testing.T) {
	for name, tc := range map[string]struct{ cached, reported *corev1.Pod }{
		"when nothing changed":             {fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod()},
		"when the Pod is gone":             {nil, fakecluster.ReportedPod()},
		"when the Pod was replaced":        {fakecluster.PublishedPod(func(p *corev1.Pod) { p.UID = "uid-2" }), fakecluster.ReportedPod()},
		"when the status names no UID":     {fakecluster.PublishedPod(), fakecluster.ReportedPod(func(p *corev1.Pod) { p.UID = "" })},
		"when the Pod has failed":          {fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), fakecluster.ReportedPod()},
		"when the Pod has succeeded":       {fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), fakecluster.ReportedPod()},
		"when only foreign metadata moved": {fakecluster.PublishedPod(fakecluster.Running, func(p *corev1.Pod) { p.Labels["new"] = "label" }), fakecluster.ReportedPod()},
	} {
		t.Run(name, func(t *testing.T) {
			g, client, _ := newStatusFixture(t, tc.cached, tc.cached)
			if _, err := g.Pods("default").UpdateStatus(t.Context(), tc.reported, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
			if got := client.Actions(); len(got) != 0 {
				t.Errorf("requests = %v, want none", got)
			}
		})
	}
}

func TestUpdateStatusErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		answer  error
		dropped bool
	}{
		"404": {apierrors.NewNotFound(podResource, "my-sandbox"), true},
		"another Pod of that name": {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "my-sandbox",
			field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "uid-1", "field is immutable")}), true},
		"a status that is not valid": {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "my-sandbox",
			field.ErrorList{field.Invalid(field.NewPath("status", "podIP"), "x", "must be an IP address")}), false},
		"a write conflict": {apierrors.NewConflict(podResource, "my-sandbox",
			errors.New("the object has been modified")), false},
		"403": {apierrors.NewForbidden(podResource, "my-sandbox", errors.New("no right")), false},
		"500": {apierrors.NewInternalError(errors.New("etcd")), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, client, _ := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
				client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, tc.answer
				})
				_, err := g.Pods("default").UpdateStatus(t.Context(), fakecluster.ReportedPod(), metav1.UpdateOptions{})
				if (err == nil) != tc.dropped {
					t.Errorf("error = %v, want dropped %v", err, tc.dropped)
				}
				if !tc.dropped && !errors.Is(err, tc.answer) {
					t.Errorf("error %v does not wrap the API server's", err)
				}
			})
		})
	}
}

// A create fails, its retry succeeds, and the watch has brought neither
// status back yet: the second patch must still clear what the first has set.
func TestUpdateStatusRemembersItsOwnWrite(t *testing.T) {
	g, client, pods := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
	fakecluster.WithVersions(client)
	failed := fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "ProviderFailed", "no warm capacity" })
	for _, status := range []*corev1.Pod{failed, fakecluster.ReportedPod()} {
		if _, err := g.Pods("default").UpdateStatus(t.Context(), status, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got := fakecluster.StoredPod(t, client)
	if got.Status.Phase != corev1.PodRunning || got.Status.Reason != "" || got.Status.Message != "" {
		t.Errorf("status = %s %q %q, want Running without a reason", got.Status.Phase, got.Status.Reason, got.Status.Message)
	}
	// What the watch brings later is newer than our write and wins.
	newer := got.DeepCopy()
	newer.ResourceVersion, newer.Status.Reason = "2000", "Elsewhere"
	if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), newer, newer.Namespace); err != nil {
		t.Fatal(err)
	}
	if err := pods.Informer().GetStore().Update(newer); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Pods("default").UpdateStatus(t.Context(), fakecluster.ReportedPod(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	sent := fakecluster.Patches(client)
	if want := `{"metadata":{"resourceVersion":"2000","uid":"uid-1"},"status":{"reason":null}}`; string(sent[len(sent)-1].GetPatch()) != want {
		t.Errorf("last patch = %s, want %s", sent[len(sent)-1].GetPatch(), want)
	}
}

// The library reports a failed create with the published status and its own reason.
func TestAFailedCreateIsNotReady(t *testing.T) {
	published := fakecluster.PublishedPod(func(p *corev1.Pod) { p.Generation = 3 })
	g, client, _ := newStatusFixture(t, published, published)
	fakecluster.WithVersions(client)
	report := published.DeepCopy()
	report.ResourceVersion, report.Status.Reason, report.Status.Message = "", "ProviderFailed", "volume data"
	for range 2 {
		if _, err := g.Pods("default").UpdateStatus(t.Context(), report, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if sent := len(fakecluster.Patches(client)); sent != 1 {
		t.Errorf("%d patches for one report that is repeated", sent)
	}
	got := map[corev1.PodConditionType]corev1.ConditionStatus{}
	status := fakecluster.StoredPod(t, client).Status
	for _, c := range status.Conditions {
		got[c.Type] = c.Status
		if c.LastTransitionTime.IsZero() {
			t.Errorf("no time: %+v", c)
		}
	}
	want := map[corev1.PodConditionType]corev1.ConditionStatus{
		"PodScheduled": "True", "example.com/gate": "True",
		"PodReadyToStartContainers": "False", "Initialized": "False", "ContainersReady": "False", "Ready": "False",
	}
	if diff := cmp.Diff(want, got); diff != "" || status.ObservedGeneration != 3 || status.Message != "volume data" {
		t.Errorf("generation %d, message %q, conditions (-want +got):\n%s", status.ObservedGeneration, status.Message, diff)
	}
	if report.Status.ObservedGeneration != 0 || len(report.Status.Conditions) != 2 {
		t.Error("the library's own object was changed")
	}
}

func TestDeletePassesThrough(t *testing.T) {
	g, client, _ := newStatusFixture(t, fakecluster.PublishedPod(), fakecluster.PublishedPod())
	options := *metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions("uid-1")
	if err := g.Pods("default").Delete(t.Context(), "my-sandbox", options); err != nil {
		t.Fatal(err)
	}
	d, ok := client.Actions()[0].(clienttesting.DeleteActionImpl)
	if !ok || *d.DeleteOptions.GracePeriodSeconds != 0 || *d.DeleteOptions.Preconditions.UID != "uid-1" {
		t.Errorf("request = %+v", client.Actions()[0])
	}
}
