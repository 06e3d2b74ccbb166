// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/test/crdschema"
)

const (
	crdFile    = "../../../../charts/vk-sandbox/files/crds/sandbox.cocoonstack.io_nodeinventories.yaml"
	sampleFile = "testdata/nodeinventory.json"
)

func TestAnAPIServerAcceptsTheCRD(t *testing.T) {
	crd := crdschema.Read(t, crdFile)
	crd.Status.StoredVersions = []string{"v1beta1"} // the API server's own strategy sets it
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), crd.CustomResourceDefinition); len(errs) > 0 {
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
	want := []string{
		"Address .address",
		"Entries .totalEntries",
		"Warm .totalWarm",
		"Published .publishedAt",
		"Age .metadata.creationTimestamp",
	}
	if diff := cmp.Diff(want, crdschema.Read(t, crdFile).Columns(t)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestTheSchemaKeepsEveryFieldOfASample(t *testing.T) {
	crd, sample := crdschema.Read(t, crdFile), crdschema.Sample(t, sampleFile)
	if pruned := crd.Prune(sample); len(pruned) > 0 {
		t.Errorf("an API server would drop %v", pruned)
	}
	if errs := crd.Validate(t, sample); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestTheTypesCarryEveryFieldOfASample(t *testing.T) {
	if diff := cmp.Diff(crdschema.Sample(t, sampleFile), crdschema.Recoded[v1beta1.NodeInventory](t, sampleFile)); diff != "" {
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
			sample := crdschema.Sample(t, sampleFile)
			tt.change(sample)
			errs := crdschema.Read(t, crdFile).Validate(t, sample)
			if !slices.ContainsFunc(errs, func(e *field.Error) bool { return strings.HasPrefix(e.Field, tt.path) }) {
				t.Errorf("errors are %v, want one at %s", errs, tt.path)
			}
		})
	}
}
