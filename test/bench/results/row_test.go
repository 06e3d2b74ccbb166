// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package results

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
			if got := Quantile(tt.figures, tt.q); got != tt.want {
				t.Errorf("quantile %v of %v is %v, want %v", tt.q, tt.figures, got, tt.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	tests := map[string]struct {
		row  Row
		want bool
	}{
		"the ratio of the medians, not the median of the ratios": {Row{Other: "KWOK", Target: AtMost(1), ours: []float64{1, 2, 9}, others: []float64{9, 2, 1}}, true},
		"above the ratio":           {Row{Other: "KWOK", Target: AtMost(0.8), ours: []float64{0.9}, others: []float64{1}}, false},
		"at least":                  {Row{Other: "one", Target: AtLeast(30), ours: []float64{300}, others: []float64{10}}, true},
		"less than at least":        {Row{Other: "one", Target: AtLeast(30), ours: []float64{299}, others: []float64{10}}, false},
		"the figure itself":         {Row{Target: AtMost(50), ours: []float64{50}}, true},
		"above the figure":          {Row{Target: AtMost(0), ours: []float64{1}}, false},
		"compared with nothing yet": {Row{Other: "KWOK", Target: AtMost(1), ours: []float64{0}, others: []float64{0}}, false},
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
		{0.0123, Seconds, "12.3 ms"},
		{5.04, Seconds, "5.04 s"},
		{99.7, Seconds, "99.7 s"},
		{0.183, PerSecond, "0.18/s"},
		{3521.4, PerSecond, "3521/s"},
		{0, Count, "0"},
		{0.67, Percent, "0.67%"},
		{57.8, Mebibytes, "57.8 MiB"},
	}
	for _, tt := range tests {
		if got := figure(tt.figure, tt.unit); got != tt.want {
			t.Errorf("%v is %q, want %q", tt.figure, got, tt.want)
		}
	}
}

func TestReportIsComplete(t *testing.T) {
	fill := func() *Report {
		r := New([]*Row{{What: "alone"}, {What: "compared", Other: "KWOK"}})
		for _, w := range r.rows {
			r.Ours(w.What, 1)
			if w.Other != "" {
				r.Other(w.What, 1)
			}
		}
		return r
	}
	if err := fill().Complete(); err != nil {
		t.Errorf("a full report is not complete: %v", err)
	}
	for name, spoil := range map[string]func(*Report){
		"a row without a figure":       func(r *Report) { r.row("alone").ours = nil },
		"a row with nothing beside it": func(r *Report) { r.row("compared").others = nil },
		"a figure that is none":        func(r *Report) { r.Ours("alone", math.NaN()) },
		"a time below zero":            func(r *Report) { r.Ours("alone", -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := fill()
			spoil(r)
			if r.Complete() == nil {
				t.Error("the report is taken for complete")
			}
		})
	}
}
