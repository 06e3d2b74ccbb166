// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Table is the claims table as it is watched.
type Table interface {
	CountByState() map[claims.State]int
	Writes() claims.Writes
	ObserveWrites(func(took time.Duration, err error))
}

// WatchTable counts the table's claims at each scrape, and measures its writes
// from now on. It may be called once.
func (m *Metrics) WatchTable(table Table) {
	table.ObserveWrites(func(took time.Duration, err error) {
		m.writeDuration.WithLabelValues().Observe(took.Seconds())
		m.writes.WithLabelValues(outcomeOf(err)).Inc()
	})
	m.collect(func(s sample) {
		for state, n := range table.CountByState() {
			s(m.claims, float64(n), string(state))
		}
		s(m.durable, truth(table.Writes().Err == nil))
	}, m.claims, m.durable)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
