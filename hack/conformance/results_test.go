// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCollect(t *testing.T) {
	for name, c := range map[string]struct {
		events []event
		want   []result
	}{
		"no test": {events: []event{{Action: "output", Output: "flag provided but not defined\n"}, {Action: "fail"}}},
		"subtests stand for their test": {
			events: []event{
				{Action: "run", Test: "TestA"}, {Action: "run", Test: "TestA/x"}, {Action: "output", Test: "TestA/x", Output: "hidden\n"},
				{Action: "pass", Test: "TestA/x", Elapsed: 1.5}, {Action: "run", Test: "TestA/y"}, {Action: "output", Test: "TestA/y", Output: "shown\n"},
				{Action: "fail", Test: "TestA/y", Elapsed: 2}, {Action: "fail", Test: "TestA", Elapsed: 3.5}, {Action: "fail"},
			},
			want: []result{
				{test: "TestA/x", outcome: passed, took: 1500 * time.Millisecond},
				{test: "TestA/y", outcome: failed, took: 2 * time.Second, detail: "shown\n"},
			},
		},
		"a test fails after its subtests": {
			events: []event{
				{Action: "run", Test: "TestA"}, {Action: "run", Test: "TestA/x"}, {Action: "pass", Test: "TestA/x"}, {Action: "fail", Test: "TestA"},
			},
			want: []result{{test: "TestA", outcome: failed}, {test: "TestA/x", outcome: passed}},
		},
		"a test that does not end has failed": {
			events: []event{{Action: "run", Test: "TestA"}, {Action: "output", Test: "TestA", Output: "panic\n"}, {Action: "fail"}},
			want:   []result{{test: "TestA", outcome: failed, detail: "panic\n"}},
		},
		"a test skips itself": {
			events: []event{{Action: "run", Test: "TestA"}, {Action: "output", Test: "TestA", Output: "not here\n"}, {Action: "skip", Test: "TestA"}},
			want:   []result{{test: "TestA", outcome: skipped, detail: "not here\n"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, collect(c.events), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("results (-want +got)\n%s", diff)
			}
		})
	}
}

func TestShow(t *testing.T) {
	good := []result{
		{test: "TestNot", outcome: notApplicable, detail: "a volume"},
		{test: "TestA", outcome: passed, took: 12 * time.Second},
	}
	for _, c := range []struct {
		name    string
		results []result
		want    string
		err     bool
	}{
		{
			name: "all pass", results: good,
			want: `RESULT          TIME   TEST
passed          12.0s  TestA
not applicable  -      TestNot: a volume
passed: 1, failed: 0, not applicable: 1
`,
		},
		{
			name: "one fails, one skips itself", err: true,
			results: append(good, result{test: "TestB", outcome: skipped, detail: "not here\n"}, result{test: "TestC", outcome: failed, detail: "why\n"}),
			want: `--- skipped: TestB
not here
--- failed: TestC
why
RESULT          TIME   TEST
failed          0.0s   TestC
skipped         0.0s   TestB
passed          12.0s  TestA
not applicable  -      TestNot: a volume
passed: 1, failed: 2, not applicable: 1
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := show(&out, c.results); (err != nil) != c.err {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("output (-want +got)\n%s", diff)
			}
		})
	}
}

// binary writes a script that takes the place of a test binary.
func binary(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "e2e.test")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRun(t *testing.T) {
	frame := func(result string) string {
		return `printf '\026=== RUN   TestA\n    hello\n\026--- ` + result + `: TestA (0.50s)\n\026` + result + `\n'`
	}
	for name, c := range map[string]struct {
		script string
		want   outcome
		detail string
	}{
		"passes":                 {frame("PASS"), passed, ""},
		"fails":                  {frame("FAIL") + "; exit 1", failed, "hello"},
		"fails after the tests":  {frame("PASS") + "; exit 2", failed, "exit status 2"},
		"ends without a test":    {"exit 2", failed, "exit status 2"},
		"matches no test at all": {"echo PASS", failed, "no result"},
	} {
		t.Run(name, func(t *testing.T) {
			artifacts := t.TempDir()
			j := job{suite: suite{dir: t.TempDir(), binary: binary(t, c.script)}, test: "TestA"}
			results := runAll(t.Context(), []job{j}, 1, artifacts)
			if len(results) == 0 {
				t.Fatal("no result")
			}
			if last := results[len(results)-1]; last.outcome != c.want || !strings.Contains(last.detail, c.detail) {
				t.Errorf("results %+v, want %s with %q", results, c.want, c.detail)
			}
			if c.want == passed && results[0].took != 500*time.Millisecond {
				t.Errorf("it took %v", results[0].took)
			}
			if _, err := os.Stat(filepath.Join(artifacts, "TestA.log")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestResultsHaveTheOrderOfTheJobs(t *testing.T) {
	slow := job{suite: suite{binary: filepath.Join(t.TempDir(), "missing")}, test: "TestFirst"}
	second := slow
	second.test = "TestSecond"
	results := runAll(t.Context(), []job{slow, second}, 2, t.TempDir())
	if len(results) != 2 || results[0].test != "TestFirst" || results[1].test != "TestSecond" {
		t.Errorf("results %+v", results)
	}
}

func TestLoadSuite(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "test", "e2e")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a_test.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := loadSuite(t.Context(), dir, "test/e2e", filepath.Dir(binary(t, `[ "$1" = '-test.list=^(Test|Benchmark|Fuzz)' ] && printf 'TestA\nBenchmarkA\n'`)))
	if err != nil {
		t.Fatal(err)
	}
	want := suite{name: "test/e2e", dir: folder, binary: s.binary, tests: []string{"TestA", "BenchmarkA"}, source: source}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(suite{})); diff != "" {
		t.Errorf("suite (-want +got)\n%s", diff)
	}
}
