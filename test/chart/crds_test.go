// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const keep = "helm.sh/resource-policy"

// Without the keep annotation Helm deletes the CRDs and all their objects with the
// release. Helm never upgrades the files in crds/.
func TestCRDsAreKeptAndUpgraded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(chartDir, "files/crds/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crds := all[*apiextensionsv1.CustomResourceDefinition](render(t, install{}))
	check(t, "CRDs, one for each file", len(files), len(crds))
	for _, crd := range crds {
		check(t, crd.Name+" annotation", "keep", crd.Annotations[keep])
		check(t, crd.Name+" label", "Helm", crd.Labels["app.kubernetes.io/managed-by"])
	}
	if _, err := os.Stat(filepath.Join(chartDir, "crds")); !os.IsNotExist(err) {
		t.Errorf("the chart has a crds directory (%v): Helm would never upgrade what is in it", err)
	}
}

func TestCRDFiles(t *testing.T) {
	const first = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.com, annotations: {made: generated}, labels: {a: b}}
spec: {group: example.com, names: {kind: A, plural: as}, scope: Cluster, versions: []}
`
	const second = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bs.example.com}
spec: {group: example.com, names: {kind: B, plural: bs}, scope: Cluster, versions: []}
`
	tests := map[string]struct {
		files  []string
		values string
		want   []string
	}{
		"none":       {},
		"one":        {files: []string{first}, want: []string{"as.example.com"}},
		"two":        {files: []string{first, second}, want: []string{"as.example.com", "bs.example.com"}},
		"not wanted": {files: []string{first, second}, values: `crds: {install: false}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, install{values: test.values, change: crdFiles(test.files...)})
			var got []string
			for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](rendered) {
				got = append(got, crd.Name)
				check(t, "annotation", "keep", crd.Annotations[keep])
				if crd.Name == "as.example.com" {
					check(t, "its own annotation", "generated", crd.Annotations["made"])
					check(t, "its own label", "b", crd.Labels["a"])
				}
			}
			check(t, "CRDs", test.want, got)
		})
	}
	t.Run("not a CRD", func(t *testing.T) {
		renderError(t, install{change: crdFiles("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")})
	})
}

// Each CRD can be excluded while the chart installs the others.
func TestEachCRDCanBeExcluded(t *testing.T) {
	const statuses, inventories = "nodeclaimstatuses.sandbox.cocoonstack.io", "nodeinventories.sandbox.cocoonstack.io"
	for values, want := range map[string][]string{
		"":                               {statuses, inventories},
		`crds: {nodeClaimStatus: false}`: {inventories},
		`crds: {nodeInventory: false}`:   {statuses},
		`crds: {nodeInventory: false, nodeClaimStatus: false}`: nil,
	} {
		var got []string
		for _, crd := range all[*apiextensionsv1.CustomResourceDefinition](render(t, install{values: values})) {
			got = append(got, crd.Name)
		}
		check(t, "CRDs with "+values, want, got)
	}
}

// crdFiles replaces the chart's CRD files.
func crdFiles(contents ...string) func(*chart.Chart) {
	return func(c *chart.Chart) {
		var kept []*chart.File
		for _, file := range c.Files {
			if filepath.Dir(file.Name) != "files/crds" {
				kept = append(kept, file)
			}
		}
		for i, content := range contents {
			kept = append(kept, &chart.File{Name: "files/crds/" + string(rune('a'+i)) + ".yaml", Data: []byte(content)})
		}
		c.Files = kept
	}
}
