// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A DaemonSet's selector is immutable: no value and no version may change it, and the Pods
// must match it.
func TestSelectorNeverChanges(t *testing.T) {
	want := map[string]string{"app.kubernetes.io/name": "vk-sandbox", "app.kubernetes.io/instance": "vk-sandbox"}
	tests := map[string]install{
		"alone":            {},
		"nameOverride":     {values: `nameOverride: other`},
		"fullnameOverride": {values: `fullnameOverride: other`},
		"commonLabels":     {values: `commonLabels: {team: red, app.kubernetes.io/name: hijack}`},
		"podLabels":        {values: `podLabels: {team: red, app.kubernetes.io/instance: hijack}`},
		"chart version":    {change: func(c *chart.Chart) { c.Metadata.Version = "9.9.9-rc.1+build"; c.Metadata.AppVersion = "9.9.9" }},
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			ds := daemonSet(t, render(t, in))
			check(t, "selector", want, ds.Spec.Selector.MatchLabels)
			for key, value := range want {
				check(t, "Pod label "+key, value, ds.Spec.Template.Labels[key])
			}
		})
	}
}

func TestCommonAndPodLabelsAreApplied(t *testing.T) {
	rendered := renderAll(t, install{values: `{commonLabels: {team: red}, podLabels: {tier: node}, podAnnotations: {a: b}, annotations: {c: d}}`})
	for _, object := range rendered {
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprintf("%T label", object), "red", accessor.GetLabels()["team"])
	}
	ds := daemonSet(t, rendered)
	check(t, "Pod's common label", "red", ds.Spec.Template.Labels["team"])
	check(t, "Pod's own label", "node", ds.Spec.Template.Labels["tier"])
	check(t, "Pod annotation", "b", ds.Spec.Template.Annotations["a"])
	check(t, "DaemonSet annotation", "d", ds.Annotations["c"])
}

// Names have at most 63 characters, and names that differ only at the end stay different.
func TestLongNames(t *testing.T) {
	everything := `{sandboxd: {token: x}, inventory: {publish: true}}`
	long := strings.Repeat("r", 52)
	seen := map[string]string{}
	for _, in := range []install{
		{release: long + "a", namespace: strings.Repeat("n", 63), values: everything},
		{release: long + "b", namespace: strings.Repeat("n", 63), values: everything},
		{release: long + "a", namespace: strings.Repeat("n", 62) + "m", values: everything},
	} {
		for _, object := range renderAll(t, in) {
			if _, isCRD := object.(*apiextensionsv1.CustomResourceDefinition); isCRD {
				continue
			}
			accessor, err := meta.Accessor(object)
			if err != nil {
				t.Fatal(err)
			}
			if problems := validation.IsDNS1123Label(accessor.GetName()); len(problems) > 0 {
				t.Errorf("%T %q: %s", object, accessor.GetName(), problems)
			}
			key := fmt.Sprintf("%T %s/%s", object, accessor.GetNamespace(), accessor.GetName())
			if other, taken := seen[key]; taken {
				t.Errorf("%s belongs to two releases: %s and %s/%s", key, other, in.namespace, in.release)
			}
			seen[key] = in.namespace + "/" + in.release
			for label, value := range accessor.GetLabels() {
				if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
					t.Errorf("%T label %s=%q: %s", object, label, value, problems)
				}
			}
		}
	}
}

// A release name that contains the chart's name is not repeated.
func TestNames(t *testing.T) {
	tests := map[string]struct {
		in   install
		want string
	}{
		"release named as the chart": {in: install{release: "vk-sandbox"}, want: "vk-sandbox"},
		"other release":              {in: install{release: "blue"}, want: "blue-vk-sandbox"},
		"nameOverride":               {in: install{release: "blue", values: `nameOverride: vm`}, want: "blue-vm"},
		"fullnameOverride":           {in: install{release: "blue", values: `fullnameOverride: vm`}, want: "vm"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, test.in)
			check(t, "DaemonSet", test.want, daemonSet(t, rendered).Name)
			check(t, "ServiceAccount", test.want, one[*corev1.ServiceAccount](t, rendered).Name)
		})
	}
}
