// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

const chartDir = "../../charts/vk-sandbox"

// install configures a render. The zero value is `helm install` without options.
type install struct {
	release   string
	namespace string
	values    string // YAML, laid over the chart's own values
	clients   engine.ClientProvider
	change    func(*chart.Chart)
	// without is an API that the cluster does not serve.
	without string
}

const mutatingPolicyAPI = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"

// capabilities are those of a current cluster. Helm's own default has no kinds.
func capabilities(without string) *chartutil.Capabilities {
	c := chartutil.DefaultCapabilities.Copy()
	c.APIVersions = slices.DeleteFunc(append(slices.Clone(c.APIVersions), mutatingPolicyAPI), func(api string) bool { return api == without })
	return c
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatalf("load the chart: %v", err)
	}
	return c
}

// renderFiles returns the rendered text of each template, by file name.
func renderFiles(t *testing.T, in install) (map[string]string, error) {
	t.Helper()
	c := loadChart(t)
	if in.change != nil {
		in.change(c)
	}
	var values map[string]any
	if err := yaml.Unmarshal([]byte(in.values), &values); err != nil {
		t.Fatalf("the test's values are not YAML: %v", err)
	}
	options := chartutil.ReleaseOptions{Name: "vk-sandbox", Namespace: "sandboxes", IsInstall: true, Revision: 1}
	if in.release != "" {
		options.Name = in.release
	}
	if in.namespace != "" {
		options.Namespace = in.namespace
	}
	// ToRenderValues is where Helm checks values against the schema.
	renderValues, err := chartutil.ToRenderValues(c, values, options, capabilities(in.without))
	if err != nil {
		return nil, err
	}
	if in.clients != nil {
		return engine.RenderWithClientProvider(c, renderValues, in.clients)
	}
	return engine.Engine{Strict: true}.Render(c, renderValues)
}

// render returns every object that the release installs, decoded strictly.
func render(t *testing.T, in install) objects {
	t.Helper()
	return slices.DeleteFunc(renderAll(t, in), isHook)
}

// renderHooks returns the objects of `helm test`.
func renderHooks(t *testing.T, in install) objects {
	t.Helper()
	return slices.DeleteFunc(renderAll(t, in), func(o runtime.Object) bool { return !isHook(o) })
}

func isHook(object runtime.Object) bool {
	accessor, err := meta.Accessor(object)
	return err == nil && accessor.GetAnnotations()["helm.sh/hook"] != ""
}

func renderAll(t *testing.T, in install) objects {
	t.Helper()
	files, err := renderFiles(t, in)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	var all objects
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+files[name], "\n---") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			all = append(all, decode(t, name, document))
		}
	}
	return all
}

func renderError(t *testing.T, in install) string {
	t.Helper()
	files, err := renderFiles(t, in)
	if err == nil {
		t.Fatalf("values were accepted, want an error; rendered:\n%s", files["vk-sandbox/templates/daemonset.yaml"])
	}
	return err.Error()
}

// decode fails on unknown and duplicate fields, like an API server with
// fieldValidation=Strict.
func decode(t *testing.T, file, document string) runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme,
		admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme,
		monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	object, _, err := decoder.Decode([]byte(document), nil, nil)
	if err != nil {
		t.Fatalf("%s is not a valid object: %v\n%s", file, err, document)
	}
	return object
}
