// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

func TestRegistry(t *testing.T) {
	r := metrics.NewRegistry("v1.2.3")
	r.Counter(metrics.Family{Name: "things_total", Labels: []string{"kind"}, Help: "Things."}).WithLabelValues("a").Inc()
	r.Gauge(metrics.Family{Name: "level", Help: "A level."}).WithLabelValues().Set(2)
	r.Histogram(metrics.Family{Name: "wait_duration_seconds", Help: "A wait."}, metrics.CallBuckets()).WithLabelValues().Observe(3)
	depth := r.Read(metrics.Family{Name: "depth", Labels: []string{"queue"}, Help: "A depth."})
	values := map[string]float64{"a": 4}
	r.Collect(func(sample metrics.Sample) {
		for queue, value := range values {
			sample(depth, value, queue)
		}
	}, depth)

	s := scrape.Read(t, r.Handler())
	s.Want(t, map[string]string{
		`things_total{kind="a"}`: "1", "level": "2", "wait_duration_seconds_sum": "3", `depth{queue="a"}`: "4",
	})
	values["a"] = 5
	scrape.Read(t, r.Handler()).Want(t, map[string]string{`depth{queue="a"}`: "5"})

	var names []string
	for _, f := range r.Families() {
		names = append(names, f.Name)
		if s.Types[f.Name] != string(f.Type) || !strings.Contains(s.Text, "# HELP "+f.Name+" ["+string(f.Stability)+"] "+f.Help+"\n") {
			t.Errorf("%s is not served as it is described, as a %s", f.Name, f.Type)
		}
	}
	want := []string{"vk_sandbox_build_info", "vk_sandbox_depth", "vk_sandbox_level", "vk_sandbox_things_total", "vk_sandbox_wait_duration_seconds"}
	if !slices.Equal(names, want) {
		t.Errorf("families %q, want %q", names, want)
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if s.Types[name] == "" {
			t.Errorf("%s is not served", name)
		}
	}
}

func TestANameIsDefinedOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two metrics have one name")
		}
	}()
	r := metrics.NewRegistry("")
	for range 2 {
		r.Counter(metrics.Family{Name: "things_total", Help: "Things."})
	}
}

func TestValues(t *testing.T) {
	if got := metrics.Outcome(nil); got != "success" {
		t.Errorf("nil is %s", got)
	}
	if got := metrics.Outcome(errors.New("x")); got != "error" {
		t.Errorf("an error is %s", got)
	}
	if metrics.Bool(true) != 1 || metrics.Bool(false) != 0 {
		t.Error("true is 1, and false is 0")
	}
	if got := metrics.Seconds(time.Unix(7, 5e8)); got != 7.5 {
		t.Errorf("%v seconds, want 7.5", got)
	}
	type kind string
	if got := metrics.Texts([]kind{"a", "b"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("texts %q", got)
	}
}
