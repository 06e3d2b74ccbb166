// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
)

// Metrics counts a table's claims, and counts and times its writes.
type Metrics struct {
	registry        *metrics.Registry
	claims, durable *metrics.Desc
	writes          *metrics.CounterVec
	writeDuration   *metrics.HistogramVec
}

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	const labelState = "state"
	states := metrics.Texts([]State{Tentative, Bound, Preserved, Quarantined, Releasing})
	m := &Metrics{
		registry: r,
		claims: r.Read(metrics.Family{
			Name: "claims", Labels: []string{labelState}, Values: map[string][]string{labelState: states},
			Help: "Claims by state.",
		}),
		durable: r.Read(metrics.Family{
			Name: "claims_table_durable",
			Help: "1 while the claims table's file has every change, 0 after a failed write.",
		}),
		writes: r.Counter(metrics.Family{
			Name: "claims_table_writes_total", Labels: []string{metrics.LabelResult},
			Values: map[string][]string{metrics.LabelResult: metrics.Outcomes()},
			Help:   "Writes of the claims table. Concurrent changes share one.",
		}),
		writeDuration: r.Histogram(metrics.Family{
			Name: "claims_table_write_duration_seconds", Labels: []string{},
			Help: "Time until a write of the claims table was durable or had failed.",
		}, writeBuckets()),
	}
	for _, outcome := range metrics.Outcomes() {
		m.writes.WithLabelValues(outcome)
	}
	m.writeDuration.WithLabelValues()
	return m
}

// writeBuckets range from a write to a fast disk to one that hangs, in seconds.
func writeBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// Watch counts the table's claims at each scrape, and times its writes from now on. It
// may be called once.
func (m *Metrics) Watch(table *Table) {
	table.ObserveWrites(func(took time.Duration, err error) {
		m.writeDuration.WithLabelValues().Observe(took.Seconds())
		m.writes.WithLabelValues(metrics.Outcome(err)).Inc()
	})
	m.registry.Collect(func(sample metrics.Sample) {
		for state, n := range table.CountByState() {
			sample(m.claims, float64(n), string(state))
		}
		sample(m.durable, metrics.Bool(table.Writes().Err == nil))
	}, m.claims, m.durable)
}
