// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"testing"

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
	crdschema.Read(t, crdFile).CheckAccepted(t, "v1beta1")
}

func TestKubectlColumns(t *testing.T) {
	crdschema.Read(t, crdFile).CheckColumns(t,
		"Address .address",
		"Entries .totalEntries",
		"Warm .totalWarm",
		"Published .publishedAt",
		"Age .metadata.creationTimestamp",
	)
}

func TestTheSchemaKeepsEveryFieldOfASample(t *testing.T) {
	for _, file := range []string{sampleFile, oldFile} {
		t.Run(file, func(t *testing.T) {
			crdschema.Read(t, crdFile).CheckKeeps(t, crdschema.Sample(t, file))
		})
	}
}

func TestTheTypesCarryEveryFieldOfASample(t *testing.T) {
	for _, file := range []string{sampleFile, oldFile} {
		t.Run(file, func(t *testing.T) { crdschema.CheckTypes[v1beta1.NodeInventory](t, file) })
	}
}

// Fields of the operator's CRD that this project's node agent does not publish are
// there for who does.
func TestTheSchemaKeepsOptionalFields(t *testing.T) {
	crd, sample := crdschema.Read(t, crdFile), crdschema.Sample(t, sampleFile)
	sample["templates"] = []any{map[string]any{
		"template": "t", "net": "none", "size": "small", "contentDigest": "sha256:0", "createdAt": "2026-07-27T02:15:00Z",
	}}
	entry := sample["entries"].([]any)[0].(map[string]any)
	entry["metadata"], entry["cpuCount"], entry["memoryBytes"] = map[string]any{"team": "red"}, int64(2), int64(1<<30)
	crd.CheckKeeps(t, sample)
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
		{"a phase that does not exist", entry(func(e map[string]any) { e["phase"] = "Paused" }), "entries[0].phase"},
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
			crdschema.Read(t, crdFile).CheckRefuses(t, crdschema.Sample(t, sampleFile), tt.change, tt.path)
		})
	}
}
