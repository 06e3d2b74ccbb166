// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// newAdmission starts the API server's ValidatingAdmissionPolicy plugin with the release's
// policies. It returns a function that validates a request.
func newAdmission(t *testing.T, rendered objects) func(request) error {
	t.Helper()
	stored := []runtime.Object{}
	for _, name := range []string{"team-red", "kube-node-lease"} {
		stored = append(stored, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, policy := range all[*admissionregistrationv1.ValidatingAdmissionPolicy](rendered) {
		setDefaults(policy)
		stored = append(stored, policy)
	}
	for _, binding := range all[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](rendered) {
		stored = append(stored, binding)
	}
	client := fake.NewClientset(stored...)
	factory := informers.NewSharedInformerFactory(client, 0)

	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	plugin.SetDrainedNotification(t.Context().Done())
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(scheme.Scheme))
	plugin.SetUnconditionalAuthorizer(denyAll{})
	plugin.SetRESTMapper(meta.NewDefaultRESTMapper(nil))
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	if !plugin.WaitForReady() {
		t.Fatal("the admission plugin does not get ready")
	}
	return func(r request) error {
		return plugin.Validate(t.Context(), attributes(t, r), admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	}
}

// setDefaults sets the API server's defaults of a policy.
func setDefaults(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
	match := policy.Spec.MatchConstraints
	equivalent := admissionregistrationv1.Equivalent
	match.MatchPolicy = &equivalent
	match.NamespaceSelector, match.ObjectSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	for i := range match.ResourceRules {
		scope := admissionregistrationv1.AllScopes
		match.ResourceRules[i].Scope = &scope
	}
}

func attributes(t *testing.T, r request) admission.Attributes {
	t.Helper()
	accessor, err := meta.Accessor(r.object)
	if err != nil {
		t.Fatal(err)
	}
	kind := r.object.GetObjectKind().GroupVersionKind()
	resource, subresource, _ := strings.Cut(r.resource, "/")
	var current, previous runtime.Object = r.object, r.object
	switch r.operation {
	case admission.Create:
		previous = nil
	case admission.Delete:
		current = nil
	}
	gvr := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resource}
	return admission.NewAttributesRecord(current, previous, kind, accessor.GetNamespace(), accessor.GetName(),
		gvr, subresource, r.operation, nil, false, r.userInfo())
}

// denyAll is the authorizer for policy expressions. The chart's expressions use none.
type denyAll struct{}

func (denyAll) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", nil
}
