// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// monitored are all monitoring objects of the chart.
const monitored = `
metrics:
  addr: $(VK_NODE_IP):10261
  podMonitor: {enabled: true, interval: 15s, labels: {release: prometheus}}
  prometheusRule: {enabled: true, labels: {release: prometheus}, runbookURL: "https://example.com/runbooks/"}
  dashboard: {enabled: true, annotations: {grafana_folder: Sandboxes}}
`

func TestMonitoringIsOffByDefault(t *testing.T) {
	o := render(t, install{})
	check(t, "PodMonitors", 0, len(all[*monitoringv1.PodMonitor](o)))
	check(t, "PrometheusRules", 0, len(all[*monitoringv1.PrometheusRule](o)))
	check(t, "ConfigMaps", 0, len(all[*corev1.ConfigMap](o)))
}

// Each part can be enabled alone, and has the labels that select it beside the chart's
// own.
func TestMonitoringLabels(t *testing.T) {
	o := render(t, install{values: monitored})
	for what, test := range map[string]struct {
		object  metav1.Object
		foundBy string
	}{
		"PodMonitor":     {one[*monitoringv1.PodMonitor](t, o), "release"},
		"PrometheusRule": {one[*monitoringv1.PrometheusRule](t, o), "release"},
		"dashboard":      {one[*corev1.ConfigMap](t, o), "grafana_dashboard"},
	} {
		got := test.object.GetLabels()
		if got[test.foundBy] == "" || got["app.kubernetes.io/name"] != "vk-sandbox" {
			t.Errorf("%s has the labels %v", what, got)
		}
		check(t, what+"'s namespace", "sandboxes", test.object.GetNamespace())
	}
	for _, values := range []string{
		`metrics: {prometheusRule: {enabled: true}}`, `metrics: {dashboard: {enabled: true}}`,
		`metrics: {addr: ":1", podMonitor: {enabled: true}}`,
	} {
		o := render(t, install{values: values})
		check(t, "objects with "+values, 1,
			len(all[*monitoringv1.PodMonitor](o))+len(all[*monitoringv1.PrometheusRule](o))+len(all[*corev1.ConfigMap](o)))
	}
}

// The monitor selects the Pods and the port, and sets the job that the alerts use.
func TestPodMonitor(t *testing.T) {
	o := render(t, install{values: monitored + "nameOverride: other\n", release: "blue"})
	monitor, template := one[*monitoringv1.PodMonitor](t, o), daemonSet(t, o).Spec.Template
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(template.Labels)) {
		t.Errorf("%s does not select %v", selector, template.Labels)
	}
	check(t, "job", "vk-sandbox", template.Labels[monitor.Spec.JobLabel])
	endpoint := monitor.Spec.PodMetricsEndpoints[0]
	check(t, "interval", "15s", string(endpoint.Interval))
	check(t, "path", "/metrics", endpoint.Path)
	var port corev1.ContainerPort
	for _, p := range container(t, o).Ports {
		if p.Name == *endpoint.Port {
			port = p
		}
	}
	check(t, "port", 10261, port.ContainerPort)
	check(t, "node label", "node", endpoint.RelabelConfigs[0].TargetLabel)
}

// The rules are those of the file, and each has the URL of its runbook.
func TestPrometheusRule(t *testing.T) {
	rule := one[*monitoringv1.PrometheusRule](t, render(t, install{values: monitored}))
	want := alerts(t)
	var got int
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			got++
			check(t, r.Alert+"'s expression", want[r.Alert].expr, r.Expr.String())
			check(t, r.Alert+"'s runbook", "https://example.com/runbooks/"+r.Alert+".md", r.Annotations["runbook_url"])
			check(t, r.Alert+"'s description", want[r.Alert].description, r.Annotations["description"])
		}
	}
	check(t, "number of alerts", len(want), got)
}

// The dashboard is identical to the file: Helm must not evaluate Grafana's placeholders.
func TestDashboard(t *testing.T) {
	data := one[*corev1.ConfigMap](t, render(t, install{values: monitored})).Data["vk-sandbox.json"]
	file, err := os.ReadFile(filepath.Join(chartDir, "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "dashboard", strings.TrimSpace(string(file)), strings.TrimSpace(data))
	if !json.Valid([]byte(data)) {
		t.Error("the dashboard is not JSON")
	}
	ids, titles := map[int]bool{}, map[string]bool{}
	for _, p := range dashboard(t).Panels {
		if ids[p.ID] || titles[p.Title] || p.Title == "" {
			t.Errorf("panel %d, %q, is there twice or has no title", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		if p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("panel %q shows nothing, or does not say what", p.Title)
		}
	}
}
