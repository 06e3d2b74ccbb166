// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// event is one line of test2json.
type event struct {
	Action  string
	Test    string
	Elapsed float64
	Output  string
}

func decode(lines []byte) (events []event, err error) {
	decoder := json.NewDecoder(bytes.NewReader(lines))
	for {
		var e event
		switch err := decoder.Decode(&e); {
		case errors.Is(err, io.EOF):
			return events, nil
		case err != nil:
			return events, err
		}
		events = append(events, e)
	}
}

// outcome is what came of a test.
type outcome string

const (
	passed        outcome = "passed"
	failed        outcome = "failed"
	skipped       outcome = "skipped"
	notApplicable outcome = "not applicable"
)

// result is a row of the table.
type result struct {
	test    string
	outcome outcome
	took    time.Duration
	// detail is the reason, or the end of a failed test's output; empty for a test that
	// passed at once.
	detail string
}

// bad reports whether the result fails the run. A test that skips itself is neither run nor
// listed with a reason.
func (r result) bad() bool { return r.outcome == failed || r.outcome == skipped }

// detailLines is how much is shown of a failed test's output.
const detailLines = 40

// collect returns the results of the tests in the order in which they began. A test with
// subtests has a result only if it failed and none of them did. A test that has not ended
// has failed.
func collect(events []event) []result {
	outcomes := map[string]outcome{"pass": passed, "fail": failed, "skip": skipped}
	output := map[string][]string{}
	var all []result
	for _, e := range events {
		if e.Test == "" {
			continue
		}
		i := slices.IndexFunc(all, func(r result) bool { return r.test == e.Test })
		if i < 0 {
			i = len(all)
			all = append(all, result{test: e.Test, outcome: failed})
		}
		if e.Action == "output" {
			output[e.Test] = append(output[e.Test], e.Output)
		} else if o, ended := outcomes[e.Action]; ended {
			all[i].outcome, all[i].took = o, time.Duration(e.Elapsed*float64(time.Second))
		}
	}
	var leaves []result
	for _, r := range all {
		if covered(r, all) {
			continue
		}
		if r.bad() {
			lines := output[r.test]
			r.detail = strings.Join(lines[max(0, len(lines)-detailLines):], "")
		}
		leaves = append(leaves, r)
	}
	return leaves
}

// covered reports whether the results of a test's subtests say all about it.
func covered(r result, all []result) bool {
	hasSubtests, explained := false, !r.bad()
	for _, other := range all {
		if strings.HasPrefix(other.test, r.test+"/") {
			hasSubtests = true
			explained = explained || other.bad()
		}
	}
	return hasSubtests && explained
}

// show prints the output of failed tests and the table. It returns an error if a test failed.
func show(out io.Writer, results []result) error {
	count := map[outcome]int{}
	for _, r := range results {
		count[r.outcome]++
		if r.bad() {
			fmt.Fprintf(out, "--- %s: %s\n%s\n", r.outcome, r.test, strings.TrimRight(r.detail, "\n"))
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RESULT\tTIME\tTEST")
	for _, r := range slices.SortedStableFunc(slices.Values(results), byOutcome) {
		took, reason := "-", ""
		if r.outcome != notApplicable {
			took = fmt.Sprintf("%.1fs", r.took.Seconds())
		}
		if !r.bad() && r.detail != "" {
			reason = ": " + r.detail
		}
		fmt.Fprintf(table, "%s\t%s\t%s%s\n", r.outcome, took, r.test, reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	bad := count[failed] + count[skipped]
	if _, err := fmt.Fprintf(out, "passed: %d, failed: %d, not applicable: %d\n", count[passed], bad, count[notApplicable]); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d tests failed", bad)
	}
	return nil
}

// byOutcome sorts failed tests first and tests that are not applicable last.
func byOutcome(a, b result) int {
	order := []outcome{failed, skipped, passed, notApplicable}
	return cmp.Compare(slices.Index(order, a.outcome), slices.Index(order, b.outcome))
}
