// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"
)

// Report gathers the figures, row by row.
type Report struct {
	Round int // from 0
	rows  []*Row
	begun time.Time
}

// New returns a report without figures.
func New(rows []*Row) *Report {
	return &Report{rows: rows, begun: time.Now()}
}

// OmitUnmeasured leaves out the rows that nothing was measured for.
func (r *Report) OmitUnmeasured() {
	r.rows = slices.DeleteFunc(r.rows, func(w *Row) bool { return len(w.ours) == 0 && len(w.others) == 0 })
}

// row finds the line of a name, which is one of the constants.
func (r *Report) row(what string) *Row {
	for _, w := range r.rows {
		if w.What == what {
			return w
		}
	}
	panic("no row is called " + what)
}

// Ours adds a figure of the daemon to a row.
func (r *Report) Ours(what string, figure float64) {
	w := r.row(what)
	w.ours = append(w.ours, figure)
	w.say("ours", figure)
}

// Other adds a figure of what the row is compared with.
func (r *Report) Other(what string, figure float64) {
	w := r.row(what)
	w.others = append(w.others, figure)
	w.say(w.Other, figure)
}

// Complete reports the rows that lack a figure.
func (r *Report) Complete() error {
	var errs []error
	for _, w := range r.rows {
		for _, f := range [][]float64{w.ours, w.others} {
			for _, figure := range f {
				if math.IsNaN(figure) || math.IsInf(figure, 0) || figure < 0 {
					errs = append(errs, fmt.Errorf("%s: %v is no figure", w.What, figure))
				}
			}
		}
		if len(w.ours) == 0 || (w.Other != "" && len(w.others) != len(w.ours)) {
			errs = append(errs, fmt.Errorf("%s: %d figures, and %d to compare them with", w.What, len(w.ours), len(w.others)))
		}
	}
	return errors.Join(errs...)
}

// The form of the JSON file.
type (
	document struct {
		Begun     time.Time `json:"begun"`
		Took      string    `json:"took"`
		GoVersion string    `json:"goVersion"`
		CPUs      int       `json:"cpus"`
		// Load is /proc/loadavg at the end.
		Load string      `json:"load"`
		Rows []rowReport `json:"rows"`
	}
	rowReport struct {
		What         string    `json:"what"`
		Unit         string    `json:"unit,omitempty"`
		Ours         float64   `json:"ours"`
		ComparedWith string    `json:"comparedWith,omitempty"`
		Other        *float64  `json:"other,omitempty"`
		Ratio        *float64  `json:"ratio,omitempty"`
		Target       string    `json:"target"`
		Holds        bool      `json:"holds"`
		Rounds       []float64 `json:"rounds"`
		OtherRounds  []float64 `json:"otherRounds,omitempty"`
	}
)

func (r *Report) document() document {
	load, _ := os.ReadFile("/proc/loadavg")
	d := document{
		Begun: r.begun.UTC().Truncate(time.Second), Took: time.Since(r.begun).Round(time.Second).String(),
		GoVersion: runtime.Version(), CPUs: runtime.NumCPU(), Load: string(load[:max(0, len(load)-1)]),
	}
	for _, w := range r.rows {
		line := rowReport{
			What: w.What, Unit: string(w.Unit), Ours: Median(w.ours),
			Target: w.targetText(), Holds: w.holds(), Rounds: w.ours, OtherRounds: w.others,
		}
		if w.Other != "" {
			other, ratio := Median(w.others), w.ratio()
			line.ComparedWith, line.Other, line.Ratio = w.Other, &other, &ratio
		}
		d.Rows = append(d.Rows, line)
	}
	return d
}

// Save writes all figures as JSON.
func (r *Report) Save(file string) error {
	content, err := json.MarshalIndent(r.document(), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}
