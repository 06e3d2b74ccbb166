// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `
{name: "merged (cold start)"}
	Image: "registry.example/pause:3",
	Image:           "registry.example/pause:3",
	container.Image = "busybox:1"
	Image: name,
`

func upstream() []suite {
	return []suite{
		{name: "e2e", tests: []string{"TestBasic", "TestRestart", "BenchmarkBasic"}},
		{name: "extensions", tests: []string{"TestMany", "TestServe"}, source: source},
	}
}

func TestRepositoryPlanIsReadable(t *testing.T) {
	p, err := loadPlan("tests.yaml")
	if err != nil || len(p.Alone) == 0 || len(p.NotApplicable) == 0 {
		t.Errorf("plan %+v, error %v", p, err)
	}
}

func TestPlanWithAnUnknownFieldIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tests.yaml")
	if err := os.WriteFile(file, []byte("notApplicabel: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadPlan(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		plan plan
		want string
	}{
		"right": {plan: plan{
			Alone:         []string{"TestRestart"},
			NotApplicable: []exclusion{{"serves", []string{"TestServe", "BenchmarkBasic"}}, {"volume", []string{"TestMany/merged (cold start)"}}},
		}},
		"no reason":          {plan{NotApplicable: []exclusion{{"", []string{"TestServe"}}}}, "no reason"},
		"no such test":       {plan{NotApplicable: []exclusion{{"serves", []string{"TestGone"}}}}, "no test TestGone"},
		"no such subtest":    {plan{NotApplicable: []exclusion{{"volume", []string{"TestMany/merged"}}}}, "no test TestMany/merged"},
		"no test of subtest": {plan{NotApplicable: []exclusion{{"volume", []string{"TestGone/merged (cold start)"}}}}, "no test TestGone"},
		"nothing alone":      {plan{Alone: []string{"TestGone"}}, "no test TestGone"},
		"listed twice":       {plan{Alone: []string{"TestServe"}, NotApplicable: []exclusion{{"serves", []string{"TestServe"}}}}, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.plan.check(upstream())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A test that the plan does not know is run.
func TestJobsAreAllOtherTests(t *testing.T) {
	p := plan{
		Alone:         []string{"TestRestart"},
		NotApplicable: []exclusion{{"serves", []string{"TestServe", "BenchmarkBasic"}}, {"volume", []string{"TestMany/merged (cold start)"}}},
	}
	together, alone := p.jobs(upstream())
	got := map[string][]string{}
	for _, j := range together {
		got["together"] = append(got["together"], strings.Join(j.args()[2:], " "))
	}
	for _, j := range alone {
		got["alone"] = append(got["alone"], strings.Join(j.args()[2:], " "))
	}
	want := map[string][]string{
		"together": {"-test.run=^TestBasic$", `-test.run=^TestMany$ -test.skip=^TestMany$/^merged_\(cold_start\)$`},
		"alone":    {"-test.run=^TestRestart$"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got)\n%s", diff)
	}
}

func TestImagesOfTheSource(t *testing.T) {
	want := []string{"busybox:1", "registry.example/pause:3"}
	if diff := cmp.Diff(want, images(upstream())); diff != "" {
		t.Errorf("images (-want +got)\n%s", diff)
	}
}

func TestSecondAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		runs   []outcome
		want   result
	}{
		"it passes":             {"it races", []outcome{passed}, result{test: "TestBasic", outcome: passed}},
		"it passes then":        {"it races", []outcome{failed, passed}, result{test: "TestBasic", outcome: passed, detail: "at the second attempt, because it races"}},
		"it fails twice":        {"it races", []outcome{failed, failed}, result{test: "TestBasic", outcome: failed}},
		"it gets one try alone": {"", []outcome{failed}, result{test: "TestBasic", outcome: failed}},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan{SecondAttempt: []exclusion{{c.reason, []string{"TestBasic"}}}}
			together, _ := p.jobs(upstream())
			left := c.runs
			results := together[0].attempt(func() []result {
				next := left[0]
				left = left[1:]
				return []result{{test: "TestBasic", outcome: next}}
			})
			if len(left) > 0 || len(results) != 1 || results[0] != c.want {
				t.Errorf("results %+v, %d runs left", results, len(left))
			}
		})
	}
}
