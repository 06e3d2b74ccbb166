// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"
)

// ciValues returns the values files of the chart's ci folder, by name.
func ciValues(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(chartDir, "ci/*-values.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the chart has no ci/*-values.yaml (%v)", err)
	}
	found := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = string(content)
	}
	return found
}

// Pairs of values files that contradict each other, and the chart's error.
func contradictions() map[[2]string]string {
	return map[[2]string]string{
		{"host-files", "secrets"}: "tls.existingSecret and tls.certFile/tls.keyFile are both set",
		{"host-files", "token"}:   "more than one of sandboxd.existingSecret.name, sandboxd.token and sandboxd.tokenFile",
		{"secrets", "token"}:      "more than one of sandboxd.existingSecret.name, sandboxd.token and sandboxd.tokenFile",
		{"monitoring", "node"}:    "exists only with node.advertiseIP=true",
		{"node", "token"}:         "exists only with node.advertiseIP=true",
		{"node", "routing"}:       "routing.enabled needs the label sandbox.cocoonstack.io/runtime in node.labels",
	}
}

// TestCombinations renders each file of ci/ and each pair of them.
func TestCombinations(t *testing.T) {
	files := ciValues(t)
	refused := contradictions()
	names := slices.Sorted(maps.Keys(files))
	for i, first := range names {
		for _, second := range names[i:] {
			t.Run(first+"+"+second, func(t *testing.T) {
				in := install{values: merged(t, files[first], files[second])}
				if want := refused[[2]string{first, second}]; want != "" {
					if message := renderError(t, in); !strings.Contains(message, want) {
						t.Errorf("error %q does not say %q", message, want)
					}
					return
				}
				checkRelease(t, renderAll(t, in))
			})
		}
	}
}

// checkRelease checks the parts of a release that no value may remove.
func checkRelease(t *testing.T, rendered objects) {
	t.Helper()
	seen := map[string]bool{}
	for _, object := range rendered {
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%T %s/%s", object, accessor.GetNamespace(), accessor.GetName())
		if seen[key] {
			t.Errorf("%s is rendered twice", key)
		}
		seen[key] = true
		check(t, key+" label", "Helm", accessor.GetLabels()["app.kubernetes.io/managed-by"])
	}
	spec, c := podSpec(t, rendered), container(t, rendered)
	check(t, "account", true, spec.ServiceAccountName != "")
	check(t, "host's network", true, spec.HostNetwork)
	check(t, "service links", false, *spec.EnableServiceLinks)
	check(t, "read-only root", true, *c.SecurityContext.ReadOnlyRootFilesystem)
	check(t, "capabilities", []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	volumes := map[string]bool{}
	for _, volume := range spec.Volumes {
		check(t, "volume "+volume.Name+" is there already", false, volumes[volume.Name])
		volumes[volume.Name] = true
	}
	for _, mount := range c.VolumeMounts {
		check(t, "mount "+mount.Name+" has a volume", true, volumes[mount.Name])
	}
}

// Every value is changed by one of the files, so that every branch of a template is
// rendered.
func TestCombinationsSetEveryValue(t *testing.T) {
	var all []map[string]any
	for _, content := range ciValues(t) {
		all = append(all, parsed(t, content))
	}
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		if children, ok := value.(map[string]any); ok && len(children) > 0 {
			for key, child := range children {
				walk(append(slices.Clone(path), key), child)
			}
			return
		}
		for _, values := range all {
			got, found := lookup(values, path)
			if found && !reflect.DeepEqual(got, value) {
				return
			}
		}
		t.Errorf("no file of ci/ sets %s to anything but its default", strings.Join(path, "."))
	}
	defaults := loadChart(t).Values
	// Hardening is a default that is not to be undone, and checked by itself.
	for _, key := range []string{"podSecurityContext", "securityContext"} {
		delete(defaults, key)
	}
	// 0 in whatever form is all that can be set.
	delete(defaults["updateStrategy"].(map[string]any)["rollingUpdate"].(map[string]any), "maxSurge")
	walk(nil, defaults)
}

// lookup follows the path. A scalar or null on the way counts as set.
func lookup(values map[string]any, path []string) (any, bool) {
	var value any = values
	for _, key := range path {
		children, ok := value.(map[string]any)
		if !ok {
			return value, true
		}
		if value, ok = children[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

func parsed(t *testing.T, content string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(content), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// merged merges second into first, as two --values flags do.
func merged(t *testing.T, first, second string) string {
	t.Helper()
	text, err := yaml.Marshal(chartutil.CoalesceTables(parsed(t, second), parsed(t, first)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
