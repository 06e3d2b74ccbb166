// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// metricsPort is the port of metrics and health on the host's loopback address.
const metricsPort = 10261

// get sends a request to a host's daemon from that host, as the kubelet's probes do. It
// returns the response with its status line.
func (f *fixture) get(h clusterinfo.Host, path string) string {
	f.t.Helper()
	return f.onHost(h, "bash", "-c", fmt.Sprintf(
		`exec 3<>/dev/tcp/127.0.0.1/%d && printf 'GET %s HTTP/1.0\r\n\r\n' >&3 && cat <&3`, metricsPort, path))
}

// TestMetricsUnderLoad creates and deletes Pods and checks that every documented metric is
// served with matching values.
func TestMetricsUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const pods = 10
	var names []string
	for i := range pods {
		names = append(names, fmt.Sprintf("load-%d", i))
		f.createSandbox(newPod(names[i]))
	}
	h := f.info.Hosts[0]
	during := f.get(h, "/metrics")
	for _, name := range names {
		f.waitRunning(name)
	}
	if bound := value(t, f.get(h, "/metrics"), `vk_sandbox_claims{state="bound"}`); bound < pods {
		t.Errorf("%v claims are bound, want at least this test's %d", bound, pods)
	}
	tokens := f.tokens(names...)
	for _, name := range names {
		f.deleteSandbox(name) // and the garbage collector deletes its Pod
	}
	for _, name := range names {
		f.waitGone(name)
	}
	after := ""
	eventually(t, "every documented metric", func(context.Context) error {
		after = f.get(h, "/metrics") //nolint:contextcheck // onHost ends with the test
		return served(t, after)
	})
	for series, least := range map[string]float64{
		`vk_sandbox_sandboxd_requests_total{operation="claim",result="success"}`:   pods,
		`vk_sandbox_sandboxd_requests_total{operation="release",result="success"}`: pods,
		`vk_sandbox_pod_operations_total{operation="create",result="success"}`:     pods,
		`vk_sandbox_pod_operation_duration_seconds_count{operation="delete"}`:      pods,
		`vk_sandbox_claims_table_writes_total{result="success"}`:                   1,
		`vk_sandbox_sandboxd_reachable`:                                            1,
		`vk_sandbox_claims_table_durable`:                                          1,
	} {
		if got := value(t, after, series); got < least {
			t.Errorf("%s is %v, want at least %v", series, got, least)
		}
	}
	f.assertAbsent(tokens, "metrics under load", during)
	f.assertAbsent(tokens, "metrics after it", after)
	for _, name := range append(names, f.namespace) {
		if strings.Contains(during+after, name) {
			t.Errorf("the metrics name %s", name)
		}
	}
}

// served checks that the daemon's metrics are exactly those of docs/metrics.md.
func served(t *testing.T, text string) error {
	t.Helper()
	docs, err := os.ReadFile(root + "/docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern, in string) map[string]bool {
		names := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(in, -1) {
			names[m[1]] = true
		}
		return names
	}
	documented := find("(?m)^\\| `(vk_sandbox_[a-z_]+)` \\|", string(docs))
	got := find("(?m)^# TYPE (vk_sandbox_[a-z_]+) ", text)
	if len(documented) == 0 || !maps.Equal(documented, got) {
		return fmt.Errorf("documented are %q, served %q", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(got)))
	}
	return nil
}

// value returns the value of one series.
func value(t *testing.T, text, series string) (v float64) {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+series+" ")
	if _, err := fmt.Sscan(rest, &v); !found || err != nil {
		t.Fatalf("no value of %s: %v", series, err)
	}
	return v
}

// TestHealth checks that each part of a daemon is alive and ready, and that profiling is
// off by default.
func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, h := range f.info.Hosts {
		for path, want := range map[string][]string{
			"/healthz":                {" 200 ", "\nok"},
			"/readyz":                 {" 200 ", "\nok"},
			"/readyz?verbose":         {"[+]claims-table-durable ok\n", "[+]pod-cache ok\n", "[+]node-registered ok\n", "readyz check passed"},
			"/readyz/node-registered": {" 200 ", "\nok"},
			"/debug/pprof/":           {" 404 "},
		} {
			if answer := f.get(h, path); !containsAll(answer, want) {
				t.Errorf("%s on %s: %q, want %q in it", path, h.Name, answer, want)
			}
		}
	}
}
