// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// unit is how a figure is read.
type unit string

const (
	seconds   unit = "s"
	count     unit = ""
	perSecond unit = "/s"
	percent   unit = "%"
	mebibytes unit = "MiB"
)

// limit is a target: a bound on the ratio to what a row is compared with, or on
// the figure itself where it is compared with nothing.
type limit struct {
	bound   float64
	atLeast bool
}

func atMost(bound float64) limit  { return limit{bound: bound} }
func atLeast(bound float64) limit { return limit{bound: bound, atLeast: true} }

func (l limit) holds(figure float64) bool {
	if l.atLeast {
		return figure >= l.bound
	}
	return figure <= l.bound
}

// row is one line of the table.
type row struct {
	what   string
	unit   unit
	target limit
	// other names what the row is compared with; empty for nothing.
	other string
	// ours and others have a figure for each round.
	ours, others []float64
}

// ratio is that of the medians.
func (w *row) ratio() float64 { return median(w.ours) / median(w.others) }

// judged is what the target speaks about.
func (w *row) judged() float64 {
	if w.other != "" {
		return w.ratio()
	}
	return median(w.ours)
}

func (w *row) holds() bool { return w.target.holds(w.judged()) }

func median(figures []float64) float64 { return quantile(figures, 0.5) }

// quantile is that of the figures, between two of them where it falls there.
func quantile(figures []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
