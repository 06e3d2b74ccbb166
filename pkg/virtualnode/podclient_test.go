// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

var podResource = schema.GroupResource{Resource: "pods"}

// newStatusFixture is a pod client over an informer cache that holds cached,
// and an API server that holds stored.
func newStatusFixture(t *testing.T, cached, stored *corev1.Pod) (*podsGetter, *fake.Clientset, *PodInformer) {
	t.Helper()
	client := fake.NewClientset()
	if stored != nil {
		if err := client.Tracker().Add(stored); err != nil {
			t.Fatal(err)
		}
	}
	pods := NewPodInformer(client, "host-1-sandboxd")
	if cached != nil {
		if err := pods.Informer().GetStore().Add(cached); err != nil {
			t.Fatal(err)
		}
	}
	return &podsGetter{client.CoreV1(), pods.published}, client, pods
}

// What was written counts at once, not when the watch has brought it back.
func TestShows(t *testing.T) {
	g, client, pods := newStatusFixture(t, publishedPod(), publishedPod())
	countVersions(client)
	reported, other := reportedPod(), reportedPod()
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

// countVersions gives each patched Pod another resource version, which the fake
// leaves as it is.
func countVersions(client *fake.Clientset) {
	version := 7
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		handled, object, err := clienttesting.ObjectReaction(client.Tracker())(a)
		if pod, ok := object.(*corev1.Pod); ok {
			version++
			pod.ResourceVersion = strconv.Itoa(version)
		}
		return handled, object, err
	})
}

func patches(client *fake.Clientset) []clienttesting.PatchAction {
	var found []clienttesting.PatchAction
	for _, a := range client.Actions() {
		if p, ok := a.(clienttesting.PatchAction); ok {
			found = append(found, p)
		}
	}
	return found
}

func TestUpdateStatusPatches(t *testing.T) {
	g, client, _ := newStatusFixture(t, publishedPod(), publishedPod())
	if _, err := g.Pods("default").UpdateStatus(t.Context(), reportedPod(), metav1.UpdateOptions{}); err != nil {
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
	want, err := statusPatch(publishedPod(), reportedPod())
	if err != nil {
		t.Fatal(err)
	}
	if string(p.GetPatch()) != string(want) {
		t.Errorf("patch = %s, want %s", p.GetPatch(), want)
	}
	got, err := client.CoreV1().Pods("default").Get(t.Context(), "my-sandbox", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.Phase != corev1.PodRunning || got.Annotations["user"] != "note" || got.Labels["app"] != "user" {
		t.Errorf("stored pod = %+v", got)
	}
}

func TestUpdateStatusSendsNothing(t *testing.T) {
	for name, tc := range map[string]struct{ cached, reported *corev1.Pod }{
		"when nothing changed":             {publishedPod(running), reportedPod()},
		"when the Pod is gone":             {nil, reportedPod()},
		"when the Pod was replaced":        {publishedPod(func(p *corev1.Pod) { p.UID = "uid-2" }), reportedPod()},
		"when the status names no UID":     {publishedPod(), reportedPod(func(p *corev1.Pod) { p.UID = "" })},
		"when the Pod has failed":          {publishedPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), reportedPod()},
		"when the Pod has succeeded":       {publishedPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), reportedPod()},
		"when only foreign metadata moved": {publishedPod(running, func(p *corev1.Pod) { p.Labels["new"] = "label" }), reportedPod()},
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
				g, client, _ := newStatusFixture(t, publishedPod(), publishedPod())
				client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, tc.answer
				})
				_, err := g.Pods("default").UpdateStatus(t.Context(), reportedPod(), metav1.UpdateOptions{})
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
	g, client, pods := newStatusFixture(t, publishedPod(), publishedPod())
	countVersions(client)
	failed := publishedPod(func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "ProviderFailed", "no warm capacity" })
	for _, status := range []*corev1.Pod{failed, reportedPod()} {
		if _, err := g.Pods("default").UpdateStatus(t.Context(), status, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := client.CoreV1().Pods("default").Get(t.Context(), "my-sandbox", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.Phase != corev1.PodRunning || got.Status.Reason != "" || got.Status.Message != "" {
		t.Errorf("status = %s %q %q, want Running without a reason", got.Status.Phase, got.Status.Reason, got.Status.Message)
	}
	// What the watch brings later is newer than our write and wins.
	newer := got.DeepCopy()
	newer.ResourceVersion, newer.Status.Reason = "1000", "Elsewhere"
	if err := pods.Informer().GetStore().Update(newer); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Pods("default").UpdateStatus(t.Context(), reportedPod(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	sent := patches(client)
	if want := `{"metadata":{"resourceVersion":"1000","uid":"uid-1"},"status":{"reason":null}}`; string(sent[len(sent)-1].GetPatch()) != want {
		t.Errorf("last patch = %s, want %s", sent[len(sent)-1].GetPatch(), want)
	}
}

func TestDeletePassesThrough(t *testing.T) {
	g, client, _ := newStatusFixture(t, publishedPod(), publishedPod())
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
