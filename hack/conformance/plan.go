// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// plan says which tests are not run, which are run alone, and which get a second attempt.
// All others are run once, together.
type plan struct {
	Alone []string `json:"alone"`
	// SecondAttempt has tests that can fail with no fault of the node.
	SecondAttempt []exclusion `json:"secondAttempt"`
	NotApplicable []exclusion `json:"notApplicable"`
}

// exclusion has the names of tests as their source has them. A subtest's name follows the
// name of its test and a slash.
type exclusion struct {
	Reason string   `json:"reason"`
	Tests  []string `json:"tests"`
}

func loadPlan(file string) (p plan, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	if err := yaml.UnmarshalStrict(content, &p); err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// excluded returns the names of all tests that are not applicable.
func (p plan) excluded() []string { return names(p.NotApplicable) }

func names(exclusions []exclusion) (all []string) {
	for _, e := range exclusions {
		all = append(all, e.Tests...)
	}
	return all
}

// secondAttempt returns why the test gets a second attempt; empty if it gets none.
func (p plan) secondAttempt(test string) (reason string) {
	for _, e := range p.SecondAttempt {
		if slices.Contains(e.Tests, test) {
			return e.Reason
		}
	}
	return ""
}

// check returns an error for every entry that is not right, such as one that no test has.
func (p plan) check(suites []suite) error {
	var errs []error
	for _, e := range slices.Concat(p.NotApplicable, p.SecondAttempt) {
		if e.Reason == "" {
			errs = append(errs, fmt.Errorf("no reason for %v", e.Tests))
		}
	}
	seen := map[string]bool{}
	for _, name := range slices.Concat(p.excluded(), p.Alone, names(p.SecondAttempt)) {
		if seen[name] {
			errs = append(errs, fmt.Errorf("%s is listed twice", name))
		}
		seen[name] = true
		if !slices.ContainsFunc(suites, func(s suite) bool { return s.has(name) }) {
			errs = append(errs, fmt.Errorf("there is no test %s: remove it", name))
		}
	}
	return errors.Join(errs...)
}

// jobs returns the runs that the plan leaves, one for each top-level test.
func (p plan) jobs(suites []suite) (together, alone []job) {
	excluded := p.excluded()
	for _, s := range suites {
		for _, test := range s.tests {
			if slices.Contains(excluded, test) {
				continue
			}
			j := job{suite: s, test: test, secondAttempt: p.secondAttempt(test)}
			for _, name := range excluded {
				if strings.HasPrefix(name, test+"/") {
					j.skip = append(j.skip, name)
				}
			}
			if slices.Contains(p.Alone, test) {
				alone = append(alone, j)
			} else {
				together = append(together, j)
			}
		}
	}
	return together, alone
}

// notApplicable returns the results of the tests that are not run.
func (p plan) notApplicable() []result {
	var all []result
	for _, e := range p.NotApplicable {
		for _, name := range e.Tests {
			all = append(all, result{test: runName(name), outcome: notApplicable, detail: e.Reason})
		}
	}
	return all
}

// suite is one package of tests.
type suite struct {
	// name is the import path.
	name   string
	dir    string
	binary string
	// tests are the top-level tests and benchmarks.
	tests []string
	// source is the text of all files of the package.
	source string
}

// has reports whether the suite has a test. A binary does not list its subtests, so their
// names are searched in the source.
func (s suite) has(name string) bool {
	test, sub, isSub := strings.Cut(name, "/")
	return slices.Contains(s.tests, test) && (!isSub || strings.Contains(s.source, strconv.Quote(sub)))
}

var image = regexp.MustCompile(`\bImage(?::| =)\s+"([^"]+)"`)

// images returns the images that the tests name.
func images(suites []suite) []string {
	var found []string
	for _, s := range suites {
		for _, match := range image.FindAllStringSubmatch(s.source, -1) {
			found = append(found, match[1])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// runName returns the name of a test as its binary has it.
func runName(name string) string { return strings.ReplaceAll(name, " ", "_") }
