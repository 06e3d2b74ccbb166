// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
)

// Metrics counts publications.
type Metrics struct {
	publications *metrics.CounterVec
	last         *metrics.GaugeVec
}

// NewMetrics defines the metrics in the registry, for objects of the kinds given,
// such as NodeInventory.
func NewMetrics(r *metrics.Registry, kinds ...string) *Metrics {
	const labelObject = "object"
	values := map[string][]string{labelObject: kinds, metrics.LabelResult: metrics.Outcomes()}
	return &Metrics{
		publications: r.Counter(metrics.Family{
			Name: "publications_total", Labels: []string{labelObject, metrics.LabelResult}, Values: values,
			Help: "Attempts to bring the object up to date in the API.",
		}),
		last: r.Gauge(metrics.Family{
			Name: "last_publication_timestamp_seconds", Labels: []string{labelObject}, Values: values,
			Help: "When the object was last up to date in the API; 0 before the first time.",
		}),
	}
}

// Observe returns [Config].Observe for objects of that kind. From this call on, the kind
// has metrics.
func (m *Metrics) Observe(kind string) func(err error) {
	last := m.last.WithLabelValues(kind)
	last.Set(0)
	for _, outcome := range metrics.Outcomes() {
		m.publications.WithLabelValues(kind, outcome)
	}
	return func(err error) {
		m.publications.WithLabelValues(kind, metrics.Outcome(err)).Inc()
		if err == nil {
			last.Set(metrics.Seconds(time.Now()))
		}
	}
}
