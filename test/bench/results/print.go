// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"
)

// Print writes the table.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tours\tcompared with\tratio\ttarget\tholds?")
	for _, line := range r.rows {
		other, ratio := "-", "-"
		if line.Other != "" {
			other = line.Other + " " + figure(Median(line.others), line.Unit)
			ratio = strconv.FormatFloat(line.ratio(), 'f', 2, 64)
		}
		holds := "no"
		if line.holds() {
			holds = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", line.What, figure(Median(line.ours), line.Unit), other, ratio, line.targetText(), holds)
	}
	return t.Flush()
}

// say shows a figure as soon as it is known.
func (w *Row) say(whose string, f float64) {
	Logf("  %s: %s %s", w.What, whose, figure(f, w.Unit))
}

func (w *Row) targetText() string {
	sign := "≤ "
	if w.Target.atLeast {
		sign = "≥ "
	}
	if w.Other != "" {
		return sign + strconv.FormatFloat(w.Target.bound, 'f', -1, 64) + " ×"
	}
	return sign + figure(w.Target.bound, w.Unit)
}

// figure renders with three digits that count, times below a second as
// milliseconds.
func figure(f float64, u unit) string {
	if u == Seconds && f < 1 {
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
	case Seconds, "ms", Mebibytes:
		return text + " " + string(u)
	}
	return text + string(u)
}

// Logf tells whoever waits what is going on.
func Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
