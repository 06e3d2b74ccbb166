// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const sandboxCRDFile = "../e2e/testdata/sandbox-crd.yaml"

// sandboxCRD returns the test's Sandbox CRD after the API server's validation.
func sandboxCRD(t *testing.T) *apiextensions.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(sandboxCRDFile)
	if err != nil {
		t.Fatal(err)
	}
	crd := decode(t, sandboxCRDFile, string(text)).(*apiextensionsv1.CustomResourceDefinition)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), &internal); len(errs) > 0 {
		t.Fatalf("%s: %v", sandboxCRDFile, errs.ToAggregate())
	}
	return &internal
}

// The chart's default owner, the test's CRD and the example are of one kind.
func TestSandboxKindIsTheSameEverywhere(t *testing.T) {
	crd := sandboxCRD(t)
	var example metav1.PartialObjectMetadata
	text, err := os.ReadFile(examplesDir + "sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &example); err != nil {
		t.Fatal(err)
	}
	check(t, "apiVersion", crd.Spec.Group+"/"+crd.Spec.Versions[0].Name, example.APIVersion)
	check(t, "kind", crd.Spec.Names.Kind, example.Kind)
	readable := right{"", crd.Spec.Group, crd.Spec.Names.Plural, "get"}
	if _, ok := reasons[readable]; !ok {
		t.Errorf("the chart gives no right to get %s.%s", readable.resource, readable.group)
	}
	pod := podTemplates(t)["pod.yaml"]
	check(t, "Pod's name is its Sandbox's", example.Namespace+"/"+example.Name, pod.Namespace+"/"+pod.Name)
}

func TestSandboxCRDAccepts(t *testing.T) {
	crd := sandboxCRD(t)
	schema := crd.Spec.Validation
	if schema == nil {
		schema = crd.Spec.Versions[0].Schema
	}
	validator, _, err := validation.NewSchemaValidator(schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		object string
		valid  bool
	}{
		"bare":                 {object: `{spec: {}}`, valid: true},
		"expired":              {object: `{status: {conditions: [{type: Ready, status: "False", reason: SandboxExpired}]}}`, valid: true},
		"suspended":            {object: `{spec: {operatingMode: Suspended, podTemplate: {spec: {containers: []}}}}`, valid: true},
		"fields of the real":   {object: `{spec: {shutdownPolicy: Retain, service: true}, status: {nodeName: n}}`, valid: true},
		"condition, no status": {object: `{status: {conditions: [{type: Ready}]}}`},
		"unknown mode":         {object: `{spec: {operatingMode: Asleep}}`},
		"shutdownTime":         {object: `{spec: {shutdownTime: tomorrow}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var object any
			if err := yaml.Unmarshal([]byte(test.object), &object); err != nil {
				t.Fatal(err)
			}
			errs := validation.ValidateCustomResource(nil, object, validator)
			if valid := len(errs) == 0; valid != test.valid {
				t.Errorf("valid: %v, want %v: %v", valid, test.valid, errs)
			}
		})
	}
	t.Run("examples/sandbox.yaml", func(t *testing.T) {
		var object any
		readYAML(t, examplesDir+"sandbox.yaml", &object)
		if errs := validation.ValidateCustomResource(nil, object, validator); len(errs) > 0 {
			t.Error(errs.ToAggregate())
		}
	})
}
