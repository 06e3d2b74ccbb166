// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// rows returns the default of each value in the README.md's table. The descriptions must
// match values.yaml.
func rows(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| ([A-Za-z.]+) \\| [a-z/]+ \\| `(.*?)` \\| (.+) \\|$")
	values, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(string(text), -1) {
		found[match[1]] = match[2]
		if !strings.Contains(string(values), "# -- "+match[3]+"\n") {
			t.Errorf("%s: README.md has %q, which differs from values.yaml: run helm-docs", match[1], match[3])
		}
	}
	return found
}

// Every value has a row with its current default. A row for a map or a list covers its
// entries.
func TestEveryValueIsDocumented(t *testing.T) {
	documented := rows(t)
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if children, ok := value.(map[string]any); ok && len(children) > 0 && documented[path] == "" {
			for _, key := range slices.Sorted(maps.Keys(children)) {
				walk(strings.TrimPrefix(path+"."+key, "."), children[key])
			}
			return
		}
		got, ok := documented[path]
		if !ok {
			t.Errorf("%s has no row in README.md: describe it in values.yaml and run helm-docs", path)
			return
		}
		var parsed any
		if err := yaml.Unmarshal([]byte(got), &parsed); err != nil {
			t.Errorf("%s: the default %q in README.md is not YAML: %v", path, got, err)
			return
		}
		check(t, path+" in README.md", value, parsed)
		delete(documented, path)
	}
	walk("", loadChart(t).Values)
	for path := range documented {
		t.Errorf("README.md documents %s, which values.yaml does not have", path)
	}
}

// The schema and values.yaml have the same values.
func TestSchemaMatchesValues(t *testing.T) {
	var schema map[string]any
	c := loadChart(t)
	if err := yaml.Unmarshal(c.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	// Kubernetes' own types, left to the API server, and optional probe settings.
	open := []string{"global", "startupProbe", "livenessProbe", "readinessProbe", "affinity", "owners"}
	var walk func(path string, schema map[string]any, value any)
	walk = func(path string, schema map[string]any, value any) {
		properties, closed := schema["properties"].(map[string]any)
		if !closed || slices.Contains(open, path) {
			return
		}
		check(t, path+" additionalProperties", any(false), schema["additionalProperties"])
		values, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			child := strings.TrimPrefix(path+"."+key, ".")
			if _, ok := values[key]; !ok && !slices.Contains(open, child) {
				t.Errorf("%s is in the schema but not in values.yaml", child)
			}
			walk(child, properties[key].(map[string]any), values[key])
		}
	}
	walk("", schema, c.Values)
}

// Helm refuses the chart on clusters without the required admission policies, and accepts
// version suffixes of vendors.
func TestKubeVersion(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.32.9": false, "v1.33.0": true, "v1.33.2-gke.1001": true, "v1.37.2": true, "v1.40.0-alpha.1": true,
	} {
		check(t, version, want, chartutil.IsCompatibleRange(loadChart(t).Metadata.KubeVersion, version))
	}
}
