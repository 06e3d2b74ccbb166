// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// Published returns what a publisher calls at the end of each attempt: with
// nil when the object is up to date in the API, whether or not there was
// anything to write. The object counts as expected from now on.
func (m *Metrics) Published(object Object) func(err error) {
	last := m.lastPublication.WithLabelValues(string(object))
	last.Set(0)
	for _, outcome := range outcomeValues() {
		m.publications.WithLabelValues(string(object), outcome)
	}
	return func(err error) {
		m.publications.WithLabelValues(string(object), outcomeOf(err)).Inc()
		if err == nil {
			last.Set(seconds(time.Now()))
		}
	}
}

// seconds is a time as Prometheus counts it.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }
