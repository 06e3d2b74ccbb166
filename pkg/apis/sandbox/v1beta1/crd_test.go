// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
)

const (
	crdFile    = "../../../../charts/vk-sandbox/files/crds/sandbox.cocoonstack.io_nodeinventories.yaml"
	sampleFile = "testdata/nodeinventory.json"
)

func TestAnAPIServerAcceptsTheCRD(t *testing.T) {
	crd := readCRD(t)
	crd.Status.StoredVersions = []string{"v1beta1"} // the API server's own strategy sets it
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	if crd.Spec.Scope != apiextensions.ClusterScoped {
		t.Errorf("scope is %s: an inventory belongs to a node, which has no namespace", crd.Spec.Scope)
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != "v1beta1" {
		t.Errorf("versions are %v, want v1beta1 alone", crd.Spec.Versions)
	}
}

func TestKubectlColumns(t *testing.T) {
	var columns []string
	all, err := apiextensions.GetColumnsForVersion(readCRD(t), "v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		columns = append(columns, c.Name+" "+c.JSONPath)
	}
	want := []string{
		"Address .address",
		"Entries .totalEntries",
		"Warm .totalWarm",
		"Published .publishedAt",
		"Age .metadata.creationTimestamp",
	}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestTheSchemaKeepsEveryFieldOfASample(t *testing.T) {
	sample := readSample(t)
	structural := structuralSchema(t, readCRD(t))
	if pruned := pruning.PruneWithOptions(sample, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(pruned) > 0 {
		t.Errorf("an API server would drop %v", pruned)
	}
	if errs := validate(t, sample); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestTheTypesCarryEveryFieldOfASample(t *testing.T) {
	raw, err := os.ReadFile(sampleFile)
	if err != nil {
		t.Fatal(err)
	}
	var typed v1beta1.NodeInventory
	if err := yaml.UnmarshalStrict(raw, &typed); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(encoded, &again); err != nil {
		t.Fatal(err)
	}
	var sample map[string]any
	if err := json.Unmarshal(raw, &sample); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample, again); diff != "" {
		t.Errorf("decoded and encoded again (-sample +got):\n%s", diff)
	}
}

func TestTheSchemaRefuses(t *testing.T) {
	entry := func(change func(entry map[string]any)) func(map[string]any) {
		return func(o map[string]any) { change(o["entries"].([]any)[0].(map[string]any)) }
	}
	tests := []struct {
		name   string
		change func(object map[string]any)
		path   string
	}{
		{"a phase the contract does not have", entry(func(e map[string]any) { e["phase"] = "Paused" }), "entries[0].phase"},
		{"an entry without id", entry(func(e map[string]any) { delete(e, "id") }), "entries[0].id"},
		{"an entry with an empty id", entry(func(e map[string]any) { e["id"] = "" }), "entries[0].id"},
		{"an entry with an empty name", entry(func(e map[string]any) { e["name"] = "" }), "entries[0].name"},
		{"a deadline that is no time", entry(func(e map[string]any) { e["deadline"] = "soon" }), "entries[0].deadline"},
		{"a stamp that is no time", func(o map[string]any) { o["publishedAt"] = "now" }, "publishedAt"},
		{"a pool without key", func(o map[string]any) { delete(o["pools"].([]any)[0].(map[string]any), "key") }, "pools[0].key"},
		{"a total that is no number", func(o map[string]any) { o["totalEntries"] = "2" }, "totalEntries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sample := readSample(t)
			tt.change(sample)
			errs := validate(t, sample)
			if !slices.ContainsFunc(errs, func(e *field.Error) bool { return strings.HasPrefix(e.Field, tt.path) }) {
				t.Errorf("errors are %v, want one at %s", errs, tt.path)
			}
		})
	}
}

func readCRD(t *testing.T) *apiextensions.CustomResourceDefinition {
	t.Helper()
	raw, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(raw, &external); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	var crd apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &crd, nil); err != nil {
		t.Fatal(err)
	}
	return &crd
}

func readSample(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(sampleFile)
	if err != nil {
		t.Fatal(err)
	}
	var sample map[string]any
	if err := json.Unmarshal(raw, &sample); err != nil {
		t.Fatal(err)
	}
	return sample
}

// openAPISchema returns the one version's schema: the conversion to the
// internal form lifts it to the top when there is one version.
func openAPISchema(t *testing.T, crd *apiextensions.CustomResourceDefinition) *apiextensions.JSONSchemaProps {
	t.Helper()
	v, err := apiextensions.GetSchemaForVersion(crd, "v1beta1")
	if err != nil || v == nil {
		t.Fatalf("no schema for v1beta1: %v", err)
	}
	return v.OpenAPIV3Schema
}

func structuralSchema(t *testing.T, crd *apiextensions.CustomResourceDefinition) *schema.Structural {
	t.Helper()
	structural, err := schema.NewStructural(openAPISchema(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	return structural
}

func validate(t *testing.T, object map[string]any) field.ErrorList {
	t.Helper()
	crd := readCRD(t)
	validator, _, err := validation.NewSchemaValidator(openAPISchema(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	errs := validation.ValidateCustomResource(nil, object, validator)
	return append(errs, listtype.ValidateListSetsAndMaps(nil, structuralSchema(t, crd), object)...)
}
