// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "update testdata")

const crdTemplate = "templates/crds.yaml"

// TestSnapshot shows in review how a change affects an installation with default values.
// The generated CRDs in files/crds are excluded.
func TestSnapshot(t *testing.T) {
	files, err := renderFiles(t, install{})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := strings.TrimSpace(files[name])
		if !strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, crdTemplate) || text == "" {
			continue
		}
		got.WriteString("---\n# " + strings.TrimPrefix(name, "vk-sandbox/") + "\n" + strings.TrimPrefix(text, "---\n") + "\n")
	}
	file := filepath.Join("testdata", "default.yaml")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "the render without values differs from "+file+"; if this is intended, run: go test ./test/chart -run=TestSnapshot -update", string(want), got.String())
}

// TestUpgradeKeepsTheCRDs checks that each CRD is rendered by the same template as before,
// with Helm's keep annotation. Otherwise the next upgrade or uninstall would delete it
// with all its objects.
func TestUpgradeKeepsTheCRDs(t *testing.T) {
	files, err := renderFiles(t, install{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, text := range files {
		for document := range strings.SplitSeq("\n"+text, "\n---") {
			var crd apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal([]byte(document), &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
				continue // another kind of object
			}
			got[crd.Name] = strings.TrimPrefix(name, "vk-sandbox/") + ", " + crd.Annotations[keep]
		}
	}
	check(t, "CRDs", map[string]string{
		"nodeclaimstatuses.sandbox.cocoonstack.io": crdTemplate + ", keep",
		"nodeinventories.sandbox.cocoonstack.io":   crdTemplate + ", keep",
	}, got)
}
