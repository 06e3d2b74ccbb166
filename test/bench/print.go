// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// print writes the table.
func (r *report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tours\tcompared with\tratio\ttarget\tholds?")
	for _, line := range r.rows {
		other, ratio := "-", "-"
		if line.other != "" {
			other = line.other + " " + figure(median(line.others), line.unit)
			ratio = strconv.FormatFloat(line.ratio(), 'f', 2, 64)
		}
		holds := "no"
		if line.holds() {
			holds = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", line.what, figure(median(line.ours), line.unit), other, ratio, line.targetText(), holds)
	}
	return t.Flush()
}

// say shows a figure as soon as it is known.
func (w *row) say(whose string, f float64) {
	say("  %s: %s %s", w.what, whose, figure(f, w.unit))
}

func (w *row) targetText() string {
	sign := "≤ "
	if w.target.atLeast {
		sign = "≥ "
	}
	if w.other != "" {
		return sign + strconv.FormatFloat(w.target.bound, 'f', -1, 64) + " ×"
	}
	return sign + figure(w.target.bound, w.unit)
}

// figure renders with three digits that count, times below a second as
// milliseconds.
func figure(f float64, u unit) string {
	if u == seconds && f < 1 {
		f, u = 1000*f, "ms"
	}
	digits := 0
	switch {
	case f == float64(int64(f)):
	case f < 10:
		digits = 2
	case f < 100:
		digits = 1
	}
	text := strconv.FormatFloat(f, 'f', digits, 64)
	switch u {
	case seconds, "ms", mebibytes:
		return text + " " + string(u)
	}
	return text + string(u)
}
