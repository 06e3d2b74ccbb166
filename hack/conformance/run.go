// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// testTimeout is how long one top-level test may take.
const testTimeout = 5 * time.Minute

// loadSuite reads the sources of a package of the module, and lists the tests of its binary.
func loadSuite(ctx context.Context, source, folder, binaries string) (suite, error) {
	s := suite{name: folder, dir: filepath.Join(source, folder), binary: filepath.Join(binaries, path.Base(folder)+".test")}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return s, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return s, err
		}
		s.source += string(content)
	}
	list, err := exec.CommandContext(ctx, s.binary, "-test.list=^(Test|Benchmark|Fuzz)").Output()
	if err != nil {
		return s, fmt.Errorf("list the tests of %s: %w", folder, err)
	}
	s.tests = strings.Fields(string(list))
	return s, nil
}

// job is one run of a top-level test.
type job struct {
	suite suite
	test  string
	// skip are the subtests that are not run.
	skip []string
	// secondAttempt is why the test is run again if it fails; empty if it is not.
	secondAttempt string
}

// args are the arguments of the test binary.
func (j job) args() []string {
	args := []string{"-test.v=test2json", "-test.timeout=" + testTimeout.String(), "-test.run=" + pattern(j.test)}
	var skip []string
	for _, name := range j.skip {
		skip = append(skip, pattern(name))
	}
	if skip != nil {
		args = append(args, "-test.skip="+strings.Join(skip, "|"))
	}
	return args
}

// pattern matches the test or subtest of that name alone.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(runName(part)) + "$"
	}
	return strings.Join(parts, "/")
}

// runAll runs the jobs, so many at once. The results have the order of the jobs.
func runAll(ctx context.Context, jobs []job, parallel int, artifacts string) []result {
	byJob := make([][]result, len(jobs))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, j := range jobs {
		group.Go(func() error {
			byJob[i] = j.attempt(func() []result { return j.run(ctx, artifacts) })
			return nil
		})
	}
	_ = group.Wait() // a job's error is a result
	var all []result
	for _, results := range byJob {
		all = append(all, results...)
	}
	return all
}

// attempt runs the test, and once more if it fails and gets a second attempt.
func (j job) attempt(run func() []result) []result {
	results := run()
	if j.secondAttempt == "" || !slices.ContainsFunc(results, result.bad) {
		return results
	}
	results = run()
	for i, r := range results {
		if !r.bad() {
			results[i].detail = "at the second attempt, because " + j.secondAttempt
		}
	}
	return results
}

// run runs the test, and keeps its log among the artifacts.
func (j job) run(ctx context.Context, artifacts string) []result {
	events, err := j.events(ctx, artifacts)
	results := collect(events)
	if err != nil && !slices.ContainsFunc(results, result.bad) || len(results) == 0 {
		results = append(results, result{test: j.test, outcome: failed, detail: fmt.Sprintf("no result: %v", err)})
	}
	return results
}

// events runs the test and returns what its log says, also if the test fails.
func (j job) events(ctx context.Context, artifacts string) ([]event, error) {
	file, err := os.Create(filepath.Join(artifacts, j.test+".log"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	test := exec.CommandContext(ctx, j.suite.binary, j.args()...)
	test.Dir, test.Stdout, test.Stderr = j.suite.dir, file, file
	test.Env = append(os.Environ(), "ARTIFACTS="+artifacts)
	ran := test.Run()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	convert := exec.CommandContext(ctx, "go", "tool", "test2json", "-t")
	convert.Stdin = file
	converted, err := convert.Output()
	if err != nil {
		return nil, errors.Join(ran, fmt.Errorf("convert the log: %w", err))
	}
	events, err := decode(converted)
	return events, errors.Join(ran, err)
}
