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
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// newAdmission returns a function that validates a request with the release's policies.
func newAdmission(t *testing.T, rendered objects) func(request) error {
	t.Helper()
	plugin := newValidation(t, rendered)
	return func(r request) error {
		return plugin.Validate(t.Context(), attributes(t, r), admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	}
}

// newValidation starts the API server's ValidatingAdmissionPolicy plugin with the
// release's policies.
func newValidation(t *testing.T, rendered objects) *validating.Plugin {
	t.Helper()
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := policyClient(rendered)
	startPlugin(t, plugin, client, informers.NewSharedInformerFactory(client, 0))
	return plugin
}

// policyClient has the release's policies, with the API server's defaults, and the
// namespaces of the requests.
func policyClient(rendered objects) kubernetes.Interface {
	stored := []runtime.Object{}
	for name, labels := range map[string]map[string]string{
		"team-red": nil, "kube-node-lease": nil, routedNamespace: {podcontract.LabelRuntime: podcontract.RuntimeSandboxd},
	} {
		stored = append(stored, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	for _, policy := range all[*admissionregistrationv1.ValidatingAdmissionPolicy](rendered) {
		setDefaults(policy.Spec.MatchConstraints)
		stored = append(stored, policy)
	}
	for _, binding := range all[*admissionregistrationv1.ValidatingAdmissionPolicyBinding](rendered) {
		setDefaults(binding.Spec.MatchResources)
		stored = append(stored, binding)
	}
	for _, policy := range all[*admissionregistrationv1.MutatingAdmissionPolicy](rendered) {
		setDefaults(policy.Spec.MatchConstraints)
		stored = append(stored, policy)
	}
	for _, binding := range all[*admissionregistrationv1.MutatingAdmissionPolicyBinding](rendered) {
		setDefaults(binding.Spec.MatchResources)
		stored = append(stored, binding)
	}
	return fake.NewClientset(stored...)
}

// policyPlugin is what the plugins of both kinds of policies have in common.
type policyPlugin interface {
	admission.InitializationValidator
	SetDrainedNotification(stop <-chan struct{})
	SetExternalKubeClientSet(client kubernetes.Interface)
	SetExternalKubeInformerFactory(factory informers.SharedInformerFactory)
	SetDynamicClient(client dynamic.Interface)
	SetUnconditionalAuthorizer(authorizer authorizer.UnconditionalAuthorizer)
	SetRESTMapper(mapper meta.RESTMapper)
	WaitForReady() bool
}

func startPlugin(t *testing.T, plugin policyPlugin, client kubernetes.Interface, factory informers.SharedInformerFactory) {
	t.Helper()
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
}

// setDefaults sets the API server's defaults of a policy or binding.
func setDefaults(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	equivalent := admissionregistrationv1.Equivalent
	match.MatchPolicy = &equivalent
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
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
	current, previous := r.object, r.previous
	if previous == nil {
		previous = r.object.DeepCopyObject()
	}
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
