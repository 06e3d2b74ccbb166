// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/test/crdschema"
)

const (
	crdFile    = "../../../../charts/vk-sandbox/files/crds/sandbox.cocoonstack.io_nodeclaimstatuses.yaml"
	sampleFile = "testdata/nodeclaimstatus.json"
)

func TestAnAPIServerAcceptsTheCRD(t *testing.T) {
	crd := crdschema.Read(t, crdFile)
	crd.CheckAccepted(t, "v1alpha1")
	if names := crd.Spec.Names; !slices.Equal(names.ShortNames, []string{"ncs"}) || !slices.Equal(names.Categories, []string{"vk-sandbox"}) {
		t.Errorf("short names %v, categories %v", names.ShortNames, names.Categories)
	}
	subresources, err := apiextensions.GetSubresourcesForVersion(crd.CustomResourceDefinition, "v1alpha1")
	if err != nil || subresources == nil || subresources.Status == nil {
		t.Errorf("no status subresource (%v): whoever may edit the object could edit its status", err)
	}
}

func TestKubectlColumns(t *testing.T) {
	crdschema.Read(t, crdFile).CheckColumns(t,
		`Ready .status.conditions[?(@.type=="Ready")].status`,
		"Bound .status.counts.bound",
		"Preserved .status.counts.preserved",
		"Attention .status.counts.attention",
		`Sandboxd .status.conditions[?(@.type=="SandboxdReachable")].reason`,
		"Age .metadata.creationTimestamp",
	)
}

func TestTheSchemaKeepsEveryFieldOfASample(t *testing.T) {
	crdschema.Read(t, crdFile).CheckKeeps(t, crdschema.Sample(t, sampleFile))
}

func TestTheSchemaHasNoRoomForAToken(t *testing.T) {
	crd, sample := crdschema.Read(t, crdFile), crdschema.Sample(t, sampleFile)
	sample["status"].(map[string]any)["claims"].([]any)[0].(map[string]any)["token"] = "SECRET-7f3a91"
	if diff := cmp.Diff([]string{"status.claims[0].token"}, crd.Prune(sample)); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
}

func TestTheTypesCarryEveryFieldOfASample(t *testing.T) {
	crdschema.CheckTypes[v1alpha1.NodeClaimStatus](t, sampleFile)
}

func TestTheSchemaRefuses(t *testing.T) {
	status := func(change func(status map[string]any)) func(map[string]any) {
		return func(o map[string]any) { change(o["status"].(map[string]any)) }
	}
	claim := func(change func(claim map[string]any)) func(map[string]any) {
		return status(func(s map[string]any) { change(s["claims"].([]any)[1].(map[string]any)) })
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name   string
		change func(object map[string]any)
		path   string
	}{
		{"a state that no claim has", claim(func(c map[string]any) { c["state"] = "bound" }), "status.claims[1].state"},
		{"a claim without state", claim(func(c map[string]any) { delete(c, "state") }), "status.claims[1].state"},
		{"a claim without id", claim(func(c map[string]any) { delete(c, "id") }), "status.claims[1].id"},
		{"a claim with an empty id", claim(func(c map[string]any) { c["id"] = "" }), "status.claims[1].id"},
		{"an endless id", claim(func(c map[string]any) { c["id"] = text(257) }), "status.claims[1].id"},
		{"a claim without Pod", claim(func(c map[string]any) { delete(c, "pod") }), "status.claims[1].pod"},
		{"an endless Pod name", claim(func(c map[string]any) { c["pod"] = text(513) }), "status.claims[1].pod"},
		{"an endless text", claim(func(c map[string]any) { c["waitingFor"] = text(257) }), "status.claims[1].waitingFor"},
		{"an owner without name", claim(func(c map[string]any) { delete(c["owner"].(map[string]any), "name") }), "status.claims[1].owner.name"},
		{"an endless UID", claim(func(c map[string]any) { c["owner"].(map[string]any)["uid"] = text(129) }), "status.claims[1].owner.uid"},
		{"a deadline that is no time", claim(func(c map[string]any) { c["deadline"] = "soon" }), "status.claims[1].deadline"},
		{"too many claims", status(func(s map[string]any) {
			s["claims"] = slices.Repeat(s["claims"].([]any)[:1], 10001)
		}), "status.claims"},
		{"a count below zero", status(func(s map[string]any) { s["counts"].(map[string]any)["bound"] = int64(-1) }), "status.counts.bound"},
		{"counts that are not whole", status(func(s map[string]any) { delete(s["counts"].(map[string]any), "attention") }), "status.counts.attention"},
		{"a truncation below zero", status(func(s map[string]any) { s["truncatedCount"] = int64(-1) }), "status.truncatedCount"},
		{"a stamp that is no time", status(func(s map[string]any) { s["lastPublishedTime"] = "now" }), "status.lastPublishedTime"},
		{"a condition twice", status(func(s map[string]any) {
			c := s["conditions"].([]any)
			s["conditions"] = append(c, c[0])
		}), "status.conditions[4]"},
		{"a condition without reason", status(func(s map[string]any) { delete(s["conditions"].([]any)[0].(map[string]any), "reason") }), "status.conditions[0].reason"},
		{"a condition that is neither", status(func(s map[string]any) { s["conditions"].([]any)[0].(map[string]any)["status"] = "Maybe" }), "status.conditions[0].status"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			crdschema.Read(t, crdFile).CheckRefuses(t, crdschema.Sample(t, sampleFile), tt.change, tt.path)
		})
	}
}
