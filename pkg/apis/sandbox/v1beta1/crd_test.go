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
	// oldFile is what the first builds published.
	oldFile = "testdata/nodeinventory_firstbuilds.json"
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
	for _, file := range []string{sampleFile, oldFile} {
		t.Run(file, func(t *testing.T) {
			crd, sample := crdschema.Read(t, crdFile), crdschema.Sample(t, file)
			if pruned := crd.Prune(sample); len(pruned) > 0 {
				t.Errorf("an API server would drop %v", pruned)
			}
			if errs := crd.Validate(t, sample); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestTheTypesCarryEveryFieldOfASample(t *testing.T) {
	for _, file := range []string{sampleFile, oldFile} {
		t.Run(file, func(t *testing.T) {
			if diff := cmp.Diff(crdschema.Sample(t, file), crdschema.Recoded[v1beta1.NodeInventory](t, file)); diff != "" {
				t.Errorf("decoded and encoded again (-sample +got):\n%s", diff)
			}
		})
	}
}

// Fields of the contract that this project's node agent does not publish are
// there for who does.
func TestTheSchemaKeepsOptionalFields(t *testing.T) {
	crd, sample := crdschema.Read(t, crdFile), crdschema.Sample(t, sampleFile)
	sample["templates"] = []any{map[string]any{
		"template": "t", "net": "none", "size": "small", "contentDigest": "sha256:0", "createdAt": "2026-07-27T02:15:00Z",
	}}
	entry := sample["entries"].([]any)[0].(map[string]any)
	entry["metadata"], entry["cpuCount"], entry["memoryBytes"] = map[string]any{"team": "red"}, int64(2), int64(1<<30)
	if pruned := crd.Prune(sample); len(pruned) > 0 {
		t.Errorf("an API server would drop %v", pruned)
	}
	if errs := crd.Validate(t, sample); len(errs) > 0 {
		t.Error(errs.ToAggregate())
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
		{"a pool without a count", func(o map[string]any) { delete(o["pools"].([]any)[0].(map[string]any), "warm") }, "pools[0].warm"},
		{"a template that is no text", func(o map[string]any) { o["pools"].([]any)[0].(map[string]any)["template"] = 1 }, "pools[0].template"},
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
