// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"
)

func TestQuantile(t *testing.T) {
	tests := map[string]struct {
		figures []float64
		q, want float64
	}{
		"one figure":                   {[]float64{7}, 0.95, 7},
		"the middle of three":          {[]float64{9, 1, 4}, 0.5, 4},
		"between the middle two":       {[]float64{4, 1, 2, 9}, 0.5, 3},
		"the largest":                  {[]float64{1, 5, 3}, 1, 5},
		"between two near the largest": {[]float64{0, 10}, 0.95, 9.5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := quantile(tt.figures, tt.q); got != tt.want {
				t.Errorf("quantile %v of %v is %v, want %v", tt.q, tt.figures, got, tt.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	tests := map[string]struct {
		row  row
		want bool
	}{
		"the ratio of the medians, not the median of the ratios": {row{other: "KWOK", target: atMost(1), ours: []float64{1, 2, 9}, others: []float64{9, 2, 1}}, true},
		"above the ratio":           {row{other: "KWOK", target: atMost(0.8), ours: []float64{0.9}, others: []float64{1}}, false},
		"at least":                  {row{other: "one", target: atLeast(30), ours: []float64{300}, others: []float64{10}}, true},
		"less than at least":        {row{other: "one", target: atLeast(30), ours: []float64{299}, others: []float64{10}}, false},
		"the figure itself":         {row{target: atMost(50), ours: []float64{50}}, true},
		"above the figure":          {row{target: atMost(0), ours: []float64{1}}, false},
		"compared with nothing yet": {row{other: "KWOK", target: atMost(1), ours: []float64{0}, others: []float64{0}}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.row.holds(); got != tt.want {
				t.Errorf("holds %t, want %t", got, tt.want)
			}
		})
	}
}

func TestFigure(t *testing.T) {
	tests := []struct {
		figure float64
		unit   unit
		want   string
	}{
		{0.0123, seconds, "12.3 ms"},
		{5.04, seconds, "5.04 s"},
		{99.7, seconds, "99.7 s"},
		{0.183, perSecond, "0.18/s"},
		{3521.4, perSecond, "3521/s"},
		{0, count, "0"},
		{0.67, percent, "0.67%"},
		{57.8, mebibytes, "57.8 MiB"},
	}
	for _, tt := range tests {
		if got := figure(tt.figure, tt.unit); got != tt.want {
			t.Errorf("%v is %q, want %q", tt.figure, got, tt.want)
		}
	}
}

func TestReportIsComplete(t *testing.T) {
	o := &options{pods: 1000, rounds: 1, daemons: 100}
	fill := func() *report {
		r := newReport(o)
		for _, w := range r.rows {
			r.ours(w.what, 1)
			if w.other != "" {
				r.other(w.what, 1)
			}
		}
		return r
	}
	if err := fill().complete(); err != nil {
		t.Errorf("a full report is not complete: %v", err)
	}
	for name, spoil := range map[string]func(*report){
		"a row without a figure":       func(r *report) { r.row(rowBinary).ours = nil },
		"a row with nothing beside it": func(r *report) { r.row(rowAll(1000)).others = nil },
		"a figure that is none":        func(r *report) { r.ours(rowCPU, math.NaN()) },
		"a time below zero":            func(r *report) { r.ours(rowCPU, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := fill()
			spoil(r)
			if r.complete() == nil {
				t.Error("the report is taken for complete")
			}
		})
	}
}
