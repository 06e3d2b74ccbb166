// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
)

const runbooks = "../../docs/runbooks"

// alert is the tested part of an alert.
type alert struct{ expr, description, severity string }

// alerts returns the alerts of the rule file, by name.
func alerts(t *testing.T) map[string]alert {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartDir, "files", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string]alert{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if _, twice := found[r.Alert]; twice {
				t.Errorf("there are two alerts %s", r.Alert)
			}
			found[r.Alert] = alert{r.Expr, r.Annotations["description"], r.Labels["severity"]}
			if r.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
				t.Errorf("%s has no summary, or the severity %q", r.Alert, r.Labels["severity"])
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("the rule file has no alert")
	}
	return found
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Targets                  []struct{ Expr string }
}

func dashboard(t *testing.T) (d struct {
	Panels     []panel
	Templating struct{ List []struct{ Query string } }
}) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartDir, "files", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// promtool runs promtool. The test is skipped if promtool is not available.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	var said strings.Builder
	find := exec.CommandContext(t.Context(), "../../hack/promtool.sh")
	find.Stderr = &said
	path, err := find.Output()
	if err != nil {
		t.Skipf("no promtool: %v\n%s", err, &said)
	}
	program := strings.TrimSpace(string(path))
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Each alert fires under its condition and only then.
func TestAlerts(t *testing.T) {
	promtool(t, "check", "rules", filepath.Join(chartDir, "files", "alerts.yaml"))
	promtool(t, "test", "rules", "testdata/alerts_test.yaml")
}

// Each alert needs a case in which it fires and one in which it does not.
func TestEveryAlertIsTested(t *testing.T) {
	content, err := os.ReadFile("testdata/alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Cases []struct {
				Name     string           `json:"alertname"`
				Expected []map[string]any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			if len(c.Expected) > 0 {
				fires[c.Name] = true
			} else {
				quiet[c.Name] = true
			}
		}
	}
	want := slices.Sorted(maps.Keys(alerts(t)))
	check(t, "alerts that a case fires", want, slices.Sorted(maps.Keys(fires)))
	check(t, "alerts that a case keeps quiet", want, slices.Sorted(maps.Keys(quiet)))
}

// Every alert has a runbook with the same four parts, and every runbook has an alert.
func TestRunbooks(t *testing.T) {
	pages, err := filepath.Glob(runbooks + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	known := alerts(t)
	var documented []string
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		documented = append(documented, name)
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(content)
		for _, heading := range []string{"# " + name, "## Meaning", "## Impact", "## Diagnosis", "## Mitigation"} {
			_, after, found := strings.Cut(rest, "\n"+heading+"\n")
			if !found || strings.TrimSpace(after) == "" {
				t.Errorf("%s lacks %q, or has it out of order", page, heading)
				break
			}
			rest = after
		}
		checkNames(t, page, string(content))
		for _, other := range regexp.MustCompile("VKSandbox[A-Za-z]+").FindAllString(string(content), -1) {
			if _, ok := known[other]; !ok {
				t.Errorf("%s names the alert %s, which does not exist", page, other)
			}
		}
	}
	check(t, "pages", slices.Sorted(maps.Keys(known)), slices.Sorted(slices.Values(documented)))
}

// checkNames checks that every metric in a text is a metric of the daemon.
func checkNames(t *testing.T, where, text string) {
	t.Helper()
	served := map[string]bool{}
	for _, f := range daemonmetrics.New("").Families() {
		served[f.Name] = true
		if f.Type == metrics.Histogram {
			served[f.Name+"_bucket"], served[f.Name+"_sum"], served[f.Name+"_count"] = true, true, true
		}
	}
	for _, name := range regexp.MustCompile("vk_sandbox_[a-z_]+").FindAllString(text, -1) {
		if !served[name] {
			t.Errorf("%s names %s, which the daemon does not serve", where, name)
		}
	}
}

// An alert whose label values no series has never fires.
func checkValues(t *testing.T, where, expr string) {
	t.Helper()
	selector := regexp.MustCompile(`(vk_sandbox_[a-z_]+?)(?:_bucket|_sum|_count)?\{([^}]*)\}`)
	matcher := regexp.MustCompile(`([a-z_]+)(=~?|!=|!~)"([^"]*)"`)
	families := map[string]metrics.Family{}
	for _, f := range daemonmetrics.New("").Families() {
		families[f.Name] = f
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if m[1] == "namespace" || m[1] == "node" {
				continue // of the target
			}
			for value := range strings.SplitSeq(m[3], "|") {
				if !slices.Contains(families[s[1]].Values[m[1]], value) {
					t.Errorf("%s: %s has no %s=%q", where, s[1], m[1], value)
				}
			}
		}
	}
}

func TestExpressions(t *testing.T) {
	for name, a := range alerts(t) {
		checkNames(t, name, a.expr)
		checkValues(t, name, a.expr)
	}
	var queries []string
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			checkNames(t, p.Title, target.Expr)
			checkValues(t, p.Title, target.Expr)
			queries = append(queries, target.Expr)
		}
	}
	for _, variable := range dashboard(t).Templating.List {
		checkNames(t, "a variable of the dashboard", variable.Query)
	}
	// The dashboard's queries parse, once Grafana has put in what it does.
	grafana := strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$node", ".*")
	rules := make([]map[string]string, 0, len(queries))
	for i, q := range queries {
		rules = append(rules, map[string]string{"record": fmt.Sprintf("query_%d", i), "expr": grafana.Replace(q)})
	}
	file, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}
