// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package results

import "slices"

// unit is how a figure is read.
type unit string

const (
	Seconds   unit = "s"
	Count     unit = ""
	PerSecond unit = "/s"
	Percent   unit = "%"
	Mebibytes unit = "MiB"
)

// Limit is a target: a bound on the ratio to what a row is compared with, or on
// the figure itself where it is compared with nothing.
type Limit struct {
	bound   float64
	atLeast bool
}

// AtMost is a target that a larger figure misses.
func AtMost(bound float64) Limit { return Limit{bound: bound} }

// AtLeast is a target that a smaller figure misses.
func AtLeast(bound float64) Limit { return Limit{bound: bound, atLeast: true} }

func (l Limit) holds(figure float64) bool {
	if l.atLeast {
		return figure >= l.bound
	}
	return figure <= l.bound
}

// Row is one line of the table.
type Row struct {
	What   string
	Unit   unit
	Target Limit
	// Other names what the row is compared with; empty for nothing.
	Other string
	// ours and others have a figure for each round.
	ours, others []float64
}

// ratio is that of the medians.
func (w *Row) ratio() float64 { return Median(w.ours) / Median(w.others) }

// judged is what the target speaks about.
func (w *Row) judged() float64 {
	if w.Other != "" {
		return w.ratio()
	}
	return Median(w.ours)
}

func (w *Row) holds() bool { return w.Target.holds(w.judged()) }

// Median is the quantile 0.5.
func Median(figures []float64) float64 { return Quantile(figures, 0.5) }

// Quantile is that of the figures, between two of them where it falls there.
func Quantile(figures []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
