// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package daemonmetrics_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

// node is a provider and its queues, as they are watched.
type node struct {
	reachable metav1.ConditionStatus
	audit     sandboxes.Audit
	held      int
}

func (n *node) SandboxdReachable() metav1.Condition { return metav1.Condition{Status: n.reachable} }
func (n *node) Audit() sandboxes.Audit              { return n.audit }
func (n *node) StatusQueueLen() int                 { return 4 }
func (n *node) HeldClaims() int                     { return n.held }
func (n *node) UnadoptableClaims() int              { return 1 }
func (n *node) LeasesEnding() int                   { return 1 }
func (n *node) QueueDepths() map[virtualnode.Queue]int {
	return map[virtualnode.Queue]int{virtualnode.PodSync: 1, virtualnode.PodDelete: 2, virtualnode.PodStatus: 3}
}

// everything is a daemon's metrics with all that can be watched.
func everything(t *testing.T) *daemonmetrics.Set {
	t.Helper()
	m := daemonmetrics.New("v1.2.3")
	table, err := claims.Open(claimfile.New(faultfs.New(), "/state/claims.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	n := &node{reachable: metav1.ConditionTrue, audit: sandboxes.Audit{At: time.Unix(1700000000, 5e8), Counts: map[sandboxes.Finding]int{sandboxes.Stray: 2}}}
	m.Claims.Watch(table)
	m.Guard.Watch(func() place.Status { return place.Status{State: place.Accepted} })
	m.Provider.Watch(n)
	m.Nodes.Watch(n.QueueDepths, n.StatusQueueLen)
	m.Objects.Observe(inventory.Kind)
	m.Objects.Observe(claimstatus.Kind)
	return m
}

// What is described is served, with that type, those labels and those values,
// and nothing else is.
func TestFamiliesAreWhatIsServed(t *testing.T) {
	m := everything(t)
	s := scrape.Read(t, m.Handler())
	families := map[string]metrics.Family{}
	for _, f := range m.Families() {
		families[f.Name] = f
		if got := s.Types[f.Name]; got != string(f.Type) {
			t.Errorf("%s is served as %q, described as %s", f.Name, got, f.Type)
		}
		if !strings.Contains(s.Text, "# HELP "+f.Name+" ["+string(f.Stability)+"] "+f.Help+"\n") {
			t.Errorf("%s is not served with its help text and stability level", f.Name)
		}
	}
	for name := range s.Types {
		if _, ok := families[name]; !ok && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is served and not described", name)
		}
	}
	label := regexp.MustCompile("([a-z_]+)=\"([^\"]*)\"")
	for series := range s.Series {
		name, labels, _ := strings.Cut(series, "{")
		f, ok := families[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")]
		if !ok {
			continue
		}
		for _, match := range label.FindAllStringSubmatch(labels, -1) {
			if match[1] == "le" {
				continue
			}
			if !slices.Contains(f.Labels, match[1]) {
				t.Errorf("%s has the label %s, described are %q", series, match[1], f.Labels)
			}
			if values := f.Values[match[1]]; values != nil && !slices.Contains(values, match[2]) {
				t.Errorf("%s: %q is not among the values described: %q", series, match[2], values)
			}
		}
	}
	if !slices.IsSortedFunc(m.Families(), func(a, b metrics.Family) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the families are not ordered by name")
	}
}

// Names say what they are, as Kubernetes' conventions have it.
func TestNames(t *testing.T) {
	for _, f := range daemonmetrics.New("").Families() {
		if total := strings.HasSuffix(f.Name, "_total"); total != (f.Type == metrics.Counter) {
			t.Errorf("%s is a %s", f.Name, f.Type)
		}
		if f.Type == metrics.Histogram && !strings.HasSuffix(f.Name, "_duration_seconds") {
			t.Errorf("%s does not name its unit", f.Name)
		}
		if !strings.HasPrefix(f.Name, "vk_sandbox_") || f.Help == "" {
			t.Errorf("%s: help %q", f.Name, f.Help)
		}
		for _, l := range f.Labels {
			if f.Values[l] == nil && f.Name != "vk_sandbox_build_info" {
				t.Errorf("%s: the values of %s are not bounded", f.Name, l)
			}
		}
	}
}
