// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// fakes is an Authorizer over fake clients; the dynamic one holds sandboxes.
func fakes(sandboxes ...*unstructured.Unstructured) (*ownership.Authorizer, *dynamicfake.FakeDynamicClient, *fake.Clientset) {
	return fakesIn(&cluster{}, sandboxes...)
}

func fakesIn(c ownership.Cluster, sandboxes ...*unstructured.Unstructured) (*ownership.Authorizer, *dynamicfake.FakeDynamicClient, *fake.Clientset) {
	gvr := schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}
	owners := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	for _, o := range sandboxes {
		if err := owners.Tracker().Create(gvr, o, o.GetNamespace()); err != nil {
			panic(err)
		}
	}
	register(owners, apiService("v1beta1.agents.x-k8s.io", "1", nil))
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.AddSpecific(
		gvr.GroupVersion().WithKind("Sandbox"), gvr, gvr.GroupVersion().WithResource("sandbox"), meta.RESTScopeNamespace)
	pods := fake.NewClientset()
	return ownership.NewAuthorizer(owners, mapper, pods.CoreV1(), c), owners, pods
}

// apiServices is the resource of APIServices.
func apiServices() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
}

// register puts an APIService in place of any of its name.
func register(owners *dynamicfake.FakeDynamicClient, service *unstructured.Unstructured) {
	_ = owners.Tracker().Delete(apiServices(), "", service.GetName())
	if err := owners.Tracker().Create(apiServices(), service, ""); err != nil {
		panic(err)
	}
}

// ownerActions are the calls that are not about APIServices.
func ownerActions(owners *dynamicfake.FakeDynamicClient) (actions []clienttesting.Action) {
	for _, a := range owners.Actions() {
		if a.GetResource() != apiServices() {
			actions = append(actions, a)
		}
	}
	return actions
}

func failing(err error) clienttesting.ReactionFunc {
	return func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err }
}

func TestErrorsOfTheClient(t *testing.T) {
	sandboxes, pods := schema.GroupResource{Group: "agents.x-k8s.io", Resource: "sandboxes"}, schema.GroupResource{Resource: "pods"}
	for _, kind := range []struct {
		what     string
		resource schema.GroupResource
	}{{"owner", sandboxes}, {"bare Pod", pods}} {
		what, gr := kind.what, kind.resource
		noDetails := apierrors.NewNotFound(gr, "notebook-a")
		noDetails.ErrStatus.Details = nil
		for _, c := range []struct {
			name string
			err  error
			want verdict
		}{
			{"not found", apierrors.NewNotFound(gr, "notebook-a"), gone(what)},
			{"not found, wrapped", fmt.Errorf("get: %w", apierrors.NewNotFound(gr, "notebook-a")), gone(what)},
			{"not found, another name", apierrors.NewNotFound(gr, "notebook-b"), unnamed(what)},
			{"not found, a longer name", apierrors.NewNotFound(gr, "notebook-a-1"), unnamed(what)},
			{"not found, no details", noDetails, unnamed(what)},
			{"unexpected 404 with the name filled in", apierrors.NewGenericServerResponse(404, "get", gr, "notebook-a", "404 page not found", 0, true), unnamed(what)},
			{"unauthorized", apierrors.NewUnauthorized("no"), unread(what)},
			{"forbidden", apierrors.NewForbidden(gr, "notebook-a", errors.New("no")), unread(what)},
			{"gone", apierrors.NewGone("no"), unread(what)},
			{"expired", apierrors.NewResourceExpired("no"), unread(what)},
			{"internal", apierrors.NewInternalError(errors.New("no")), unread(what)},
			{"unavailable", apierrors.NewServiceUnavailable("no"), unread(what)},
			{"time-out", apierrors.NewTimeoutError("no", 1), unread(what)},
			{"server time-out", apierrors.NewServerTimeout(gr, "get", 1), unread(what)},
			{"too many requests", apierrors.NewTooManyRequests("no", 1), unread(what)},
			{"deadline", context.DeadlineExceeded, unread(what)},
			{"anything else", errors.New("not found: notebook-a"), unread(what)},
		} {
			t.Run(what+" "+c.name, func(t *testing.T) {
				a, owners, clientset := fakes()
				owners.PrependReactor("*", "sandboxes", failing(c.err))
				clientset.PrependReactor("*", "*", failing(c.err))
				var d ownership.Decision
				if what == "owner" {
					d = a.Owner(t.Context(), "team-red", owner)
				} else {
					d = a.Pod(t.Context(), "team-red", "notebook-a", "U1")
				}
				c.want.check(t, d)
				if c.want.failed && !errors.Is(d.Err, c.err) {
					t.Errorf("error %v, want the query's %v", d.Err, c.err)
				}
			})
		}
	}
}

func TestObjectsOfTheClient(t *testing.T) {
	for _, c := range []struct {
		name string
		obj  *unstructured.Unstructured
		want verdict
	}{
		{"alive", sandbox(nil), alive("owner")},
		{"none", nil, gone("owner")},
		{"another UID", sandbox(func(u *unstructured.Unstructured) { u.SetUID("U2") }), replaced("owner")},
		{"deletionTimestamp", sandbox(deleting), leaving("owner")},
		{"in another namespace", sandbox(func(u *unstructured.Unstructured) { u.SetNamespace("team-blue") }), gone("owner")},
		{"expired", sandbox(conditions(ready("False", "SandboxExpired", 3))), ownerExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			var held []*unstructured.Unstructured
			if c.obj != nil {
				held = append(held, c.obj)
			}
			a, owners, _ := fakes(held...)
			c.want.check(t, a.Owner(t.Context(), "team-red", owner))
			want := []clienttesting.Action{clienttesting.NewGetAction(schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}, "team-red", "notebook-a")}
			if diff := cmp.Diff(want, ownerActions(owners)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOfTheClient(t *testing.T) {
	now := metav1.Now()
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want verdict
	}{
		{"alive", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "U1"}}, alive("bare Pod")},
		{"terminal and still there", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "U1"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}, alive("bare Pod")},
		{"none", nil, gone("bare Pod")},
		{"another UID", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "U2"}}, replaced("bare Pod")},
		{"deletionTimestamp", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "U1", DeletionTimestamp: &now}}, leaving("bare Pod")},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, pods := fakes()
			if c.pod != nil {
				c.pod.Namespace, c.pod.Name = "team-red", "notebook-a"
				if err := pods.Tracker().Add(c.pod); err != nil {
					t.Fatal(err)
				}
			}
			c.want.check(t, a.Pod(t.Context(), "team-red", "notebook-a", "U1"))
			want := []clienttesting.Action{clienttesting.NewGetAction(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "team-red", "notebook-a")}
			if diff := cmp.Diff(want, pods.Actions()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestZeroDecisionPreserves(t *testing.T) {
	if (ownership.Decision{}).Release {
		t.Error("the zero Decision releases")
	}
}
