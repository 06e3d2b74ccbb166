// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi"
)

// routedNamespace has the runtime's label.
const routedNamespace = "team-vm"

// routing is the API server's admission with the release's policies.
type routing struct {
	mutating   *mutating.Plugin
	validating *validating.Plugin
	interfaces admission.ObjectInterfaces
}

func newRouting(t *testing.T, in install) *routing {
	t.Helper()
	in.values += "\nrouting: {enabled: true}"
	rendered := render(t, in)
	plugin, err := mutating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	plugin.SetEnabled(true)
	client := policyClient(rendered)
	startPlugin(t, plugin, schemaClient{client}, informers.NewSharedInformerFactory(client, 0))
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	// The API server converts from its internal Pod, which the test does not have.
	err = scheme.AddConversionFunc((*corev1.Pod)(nil), (*corev1.Pod)(nil), func(from, to any, _ conversion.Scope) error {
		from.(*corev1.Pod).DeepCopyInto(to.(*corev1.Pod))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &routing{plugin, newValidation(t, rendered), admission.NewObjectInterfacesFromScheme(scheme)}
}

// admit mutates the request's object and returns the warnings.
func (r *routing) admit(t *testing.T, req request) []string {
	t.Helper()
	seen, err := r.try(t, req)
	if err != nil {
		t.Fatalf("not admitted: %v", err)
	}
	return seen
}

// try is admit for requests that may be refused.
func (r *routing) try(t *testing.T, req request) ([]string, error) {
	t.Helper()
	attr := attributes(t, req)
	// The plugin reads the schemas in the background and refuses objects until then.
	err := wait.PollUntilContextCancel(t.Context(), time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := r.mutating.Admit(ctx, attr, r.interfaces)
		if apierrors.IsServiceUnavailable(err) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	var seen warnings
	err = r.validating.Validate(warning.WithWarningRecorder(t.Context(), &seen), attr, r.interfaces)
	return seen, err
}

// warnings records the messages of the warnings.
type warnings []string

func (w *warnings) AddWarning(_, text string) {
	_, message, _ := strings.Cut(text, "': ")
	*w = append(*w, message)
}

// schemaClient serves an empty schema for each group: JSON patches use none, but their
// kind must have one.
type schemaClient struct{ kubernetes.Interface }

func (c schemaClient) Discovery() discovery.DiscoveryInterfaces {
	return schemaDiscovery{c.Interface.Discovery()}
}

type schemaDiscovery struct{ discovery.DiscoveryInterfaces }

func (schemaDiscovery) OpenAPIV3() openapi.Client { return schemas{} }

type schemas struct{}

func (schemas) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{
		"api/v1": schemas{}, "apis/agents.x-k8s.io/v1beta1": schemas{}, "apis/extensions.agents.x-k8s.io/v1beta1": schemas{},
	}, nil
}

func (schemas) Schema(string) ([]byte, error) {
	return []byte(`{"openapi": "3.0.0", "components": {"schemas": {}}}`), nil
}

func (schemas) ServerRelativeURL() string { return "" }
