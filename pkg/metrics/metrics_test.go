// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// scrape is what Prometheus reads: the value by series, and the type by name.
type scrape struct {
	text   string
	series map[string]string
	types  map[string]string
}

func read(t *testing.T, m *metrics.Metrics) scrape {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	s := scrape{text: w.Body.String(), series: map[string]string{}, types: map[string]string{}}
	for line := range strings.Lines(s.text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			s.types[name] = kind
		} else if series, value, ok := strings.Cut(line, "} "); ok {
			s.series[series+"}"] = value
		} else if series, value, ok := strings.Cut(line, " "); ok {
			s.series[series] = value
		}
	}
	return s
}

// want checks values by series.
func (s scrape) want(t *testing.T, values map[string]string) {
	t.Helper()
	for series, want := range values {
		if got, ok := s.series["vk_sandbox_"+series]; !ok || got != want {
			t.Errorf("%s = %q, want %s", series, got, want)
		}
	}
}

// node is a provider and its queues, as they are watched.
type node struct {
	reach sandboxes.Reach
	audit sandboxes.Audit
	held  int
}

func (n *node) Reach() sandboxes.Reach { return n.reach }
func (n *node) Audit() sandboxes.Audit { return n.audit }
func (n *node) StatusQueueLen() int    { return 4 }
func (n *node) HeldClaims() int        { return n.held }
func (n *node) QueueDepths() map[virtualnode.Queue]int {
	return map[virtualnode.Queue]int{virtualnode.PodSync: 1, virtualnode.PodDelete: 2, virtualnode.PodStatus: 3}
}

// everything is a daemon's metrics with all that can be watched.
func everything(t *testing.T) (m *metrics.Metrics, table *claims.Table, disk *faultfs.FS, n *node) {
	t.Helper()
	m, disk = metrics.New("v1.2.3"), faultfs.New()
	table, err := claims.Open(disk, "/state/claims.json", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	n = &node{reach: sandboxes.Reach{Known: true}, audit: sandboxes.Audit{At: time.Unix(1700000000, 5e8), Counts: map[sandboxes.Finding]int{sandboxes.Stray: 2}}}
	m.WatchTable(table)
	m.WatchGuard(&guard{place.Accepted})
	m.WatchProvider(n)
	m.WatchQueues(n, n)
	m.Published(metrics.NodeInventory)
	m.Published(metrics.NodeClaimStatus)
	return m, table, disk, n
}

// What is described is served, with that type, those labels and those values,
// and nothing else is.
func TestFamiliesAreWhatIsServed(t *testing.T) {
	m, _, _, _ := everything(t)
	s := read(t, m)
	families := map[string]metrics.Family{}
	for _, f := range m.Families() {
		families[f.Name] = f
		if got := s.types[f.Name]; got != string(f.Type) {
			t.Errorf("%s is served as %q, described as %s", f.Name, got, f.Type)
		}
		if !strings.Contains(s.text, "# HELP "+f.Name+" ["+string(f.Stability)+"] "+f.Help+"\n") {
			t.Errorf("%s is not served with its help text and stability level", f.Name)
		}
	}
	for name := range s.types {
		if _, ok := families[name]; !ok && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is served and not described", name)
		}
	}
	label := regexp.MustCompile("([a-z_]+)=\"([^\"]*)\"")
	for series := range s.series {
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
	for _, f := range metrics.New("").Families() {
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

func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, disk, _ := everything(t)
		read(t, m).want(t, map[string]string{
			"claims{state=\"bound\"}": "0", "claims{state=\"releasing\"}": "0", "claims_table_durable": "1",
			"claims_table_writes_total{result=\"success\"}": "0", "claims_table_write_duration_seconds_count": "0",
		})
		disk.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpSync {
				time.Sleep(2 * time.Second)
			}
			return nil
		})
		row := func(id string) claims.Row {
			return claims.Row{ID: id, Token: sandboxd.NewToken("token-of-" + id), PodUID: "pod"}
		}
		for _, id := range []string{"a", "b"} {
			if err := table.Add("team-red/"+id, row(id), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.EnqueueRelease("team-red/b", "b"); err != nil {
			t.Fatal(err)
		}
		read(t, m).want(t, map[string]string{
			"claims{state=\"bound\"}": "1", "claims{state=\"releasing\"}": "1",
			"claims_table_writes_total{result=\"success\"}": "3", "claims_table_write_duration_seconds_sum": "6",
		})
		disk.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		if err := table.Add("team-red/c", row("c"), nil); err == nil {
			t.Fatal("a write to a full disk landed")
		}
		read(t, m).want(t, map[string]string{
			"claims{state=\"tentative\"}": "1", "claims_table_durable": "0", "claims_table_writes_total{result=\"error\"}": "1",
		})
		disk.SetFault(nil)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		read(t, m).want(t, map[string]string{"claims_table_durable": "1"})
	})
}

func TestProviderAndQueues(t *testing.T) {
	m, _, _, n := everything(t)
	read(t, m).want(t, map[string]string{
		"sandboxd_reachable":                         "1",
		"orphan_scan_findings{finding=\"stray\"}":    "2",
		"orphan_scan_findings{finding=\"orphan\"}":   "0",
		"orphan_scan_last_success_timestamp_seconds": "1.7000000005e+09",
		"queue_depth{queue=\"pod_sync\"}":            "1", "queue_depth{queue=\"pod_delete\"}": "2",
		"queue_depth{queue=\"pod_status\"}": "3", "queue_depth{queue=\"status_publish\"}": "4",
	})
	read(t, m).want(t, map[string]string{"claims_held": "0"})
	n.reach.Err, n.held = errors.New("x"), 3
	read(t, m).want(t, map[string]string{"sandboxd_reachable": "0", "claims_held": "3"})
	*n = node{}
	for name := range read(t, m).types {
		if strings.Contains(name, "orphan_scan") || strings.Contains(name, "reachable") {
			t.Errorf("%s has a value before anything is known", name)
		}
	}
}

func TestPublications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		if s := read(t, m); s.types["vk_sandbox_publications_total"] != "" {
			t.Error("publications are counted where nothing is published")
		}
		published := m.Published(metrics.NodeInventory)
		read(t, m).want(t, map[string]string{"last_publication_timestamp_seconds{object=\"NodeInventory\"}": "0"})
		published(nil)
		at := read(t, m).series["vk_sandbox_last_publication_timestamp_seconds{object=\"NodeInventory\"}"]
		if at != "9.466848e+08" { // where virtual time begins
			t.Errorf("published at %s", at)
		}
		time.Sleep(time.Minute)
		published(errors.New("no answer"))
		read(t, m).want(t, map[string]string{
			"last_publication_timestamp_seconds{object=\"NodeInventory\"}":    at,
			"publications_total{object=\"NodeInventory\",result=\"success\"}": "1",
			"publications_total{object=\"NodeInventory\",result=\"error\"}":   "1",
		})
	})
}

// results are errors and the result that each counts as.
func results() map[string]error {
	of := func(c sandboxd.Class) error {
		return errors.Join(errors.New("around"), &sandboxd.Error{Op: "x", Class: c})
	}
	return map[string]error{
		"success": nil, "no_capacity": of(sandboxd.NoCapacity), "invalid": of(sandboxd.Invalid), "unauthorized": of(sandboxd.Unauthorized),
		"not_found": of(sandboxd.NotFound), "unavailable": of(sandboxd.Unavailable), "unreachable": of(sandboxd.Unreachable),
		"canceled": errors.Join(of(sandboxd.Unreachable), context.Canceled), "error": errors.New("anything"),
	}
}

// failing answers everything with one error, after a while.
type failing struct {
	err  error
	took time.Duration
}

func (f failing) answer() error { time.Sleep(f.took); return f.err }

func (f failing) Claim(context.Context, sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	return sandboxd.Claim{ID: "sb_1"}, f.answer()
}
func (f failing) Release(context.Context, string, sandboxd.Token) error { return f.answer() }
func (f failing) ReleaseByID(context.Context, string) error             { return f.answer() }
func (f failing) List(context.Context) ([]sandboxd.Sandbox, error) {
	return []sandboxd.Sandbox{{ID: "sb_1"}}, f.answer()
}
func (f failing) Get(context.Context, string) (sandboxd.Sandbox, error) {
	return sandboxd.Sandbox{ID: "sb_1"}, f.answer()
}
func (f failing) Info(context.Context) (sandboxd.Info, error) { return sandboxd.Info{}, f.answer() }

// A release by id is a release, whatever credential it presents.
func TestReleaseByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		for _, err := range results() {
			counted, ok := m.Sandboxd(failing{err, time.Second}).(interface {
				ReleaseByID(context.Context, string) error
			})
			if !ok {
				t.Fatal("the decorator hides ReleaseByID")
			}
			if got := counted.ReleaseByID(t.Context(), "sb_1"); !errors.Is(got, err) {
				t.Errorf("the error %v became %v", err, got)
			}
		}
		want := map[string]string{}
		for result := range results() {
			want["sandboxd_requests_total{operation=\"release\",result=\""+result+"\"}"] = "1"
		}
		read(t, m).want(t, want)
	})
}

func TestSandboxd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		for _, err := range results() {
			counted := m.Sandboxd(failing{err, time.Second})
			claim, claimErr := counted.Claim(t.Context(), sandboxd.ClaimRequest{})
			list, listErr := counted.List(t.Context())
			one, getErr := counted.Get(t.Context(), "sb_1")
			_, infoErr := counted.Info(t.Context())
			releaseErr := counted.Release(t.Context(), "sb_1", sandboxd.Token{})
			for _, got := range []error{claimErr, listErr, getErr, infoErr, releaseErr} {
				if !errors.Is(got, err) {
					t.Errorf("the error %v became %v", err, got)
				}
			}
			if claim.ID != "sb_1" || len(list) != 1 || one.ID != "sb_1" {
				t.Errorf("answers were lost: %v, %v, %v", claim.ID, list, one)
			}
		}
		s := read(t, m)
		for _, op := range []string{"claim", "release", "list", "get", "info"} {
			for result := range results() {
				s.want(t, map[string]string{"sandboxd_requests_total{operation=\"" + op + "\",result=\"" + result + "\"}": "1"})
			}
			s.want(t, map[string]string{"sandboxd_request_duration_seconds_sum{operation=\"" + op + "\"}": "9"})
		}
	})
}

// pods fails every operation with one error.
type pods struct {
	virtualnode.Provider
	failing
}

func (p pods) CreatePod(context.Context, *corev1.Pod) error { return p.answer() }
func (p pods) UpdatePod(context.Context, *corev1.Pod) error { return p.answer() }
func (p pods) DeletePod(context.Context, *corev1.Pod) error { return p.answer() }

func TestPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("")
		for _, err := range results() {
			counted := m.Pods(pods{failing: failing{err, time.Second}})
			for verb, do := range map[string]func(context.Context, *corev1.Pod) error{
				"create": counted.CreatePod, "update": counted.UpdatePod, "delete": counted.DeletePod,
			} {
				if got := do(t.Context(), &corev1.Pod{}); !errors.Is(got, err) {
					t.Errorf("%s: the error %v became %v", verb, err, got)
				}
			}
		}
		s := read(t, m)
		for _, verb := range []string{"create", "update", "delete"} {
			for result := range results() {
				s.want(t, map[string]string{"pod_operations_total{operation=\"" + verb + "\",result=\"" + result + "\"}": "1"})
			}
			s.want(t, map[string]string{"pod_operation_duration_seconds_sum{operation=\"" + verb + "\"}": "9"})
		}
	})
}

// judge gives one verdict about everything.
type judge struct{ d ownership.Decision }

func (j judge) Owner(context.Context, string, claims.Owner) ownership.Decision { return j.d }
func (j judge) Pod(context.Context, string, string, types.UID) ownership.Decision {
	return j.d
}

func TestOwners(t *testing.T) {
	m := metrics.New("")
	verdicts := map[ownership.Cause]string{
		ownership.Gone: "release", ownership.Replaced: "release", ownership.Deleting: "release", ownership.Expired: "release",
		ownership.Alive: "preserve", ownership.Unverifiable: "preserve", ownership.Unreadable: "preserve",
	}
	if got := slices.Sorted(slices.Values(ownership.Causes())); !slices.Equal(got, slices.Sorted(maps.Keys(verdicts))) {
		t.Errorf("causes are %q; give each its verdict here", got)
	}
	for cause, verdict := range verdicts {
		read(t, m).want(t, map[string]string{"owner_verdicts_total{cause=\"" + string(cause) + "\",verdict=\"" + verdict + "\"}": "0"})
		d := ownership.Decision{Release: verdict == "release", Cause: cause, Reason: "why"}
		counted := m.Owners(judge{d})
		if counted.Owner(t.Context(), "ns", claims.Owner{}) != d || counted.Pod(t.Context(), "ns", "a", "uid") != d {
			t.Error("the verdict has changed on its way")
		}
		read(t, m).want(t, map[string]string{"owner_verdicts_total{cause=\"" + string(cause) + "\",verdict=\"" + verdict + "\"}": "2"})
	}
}
