// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"

// Provider is pkg/provider's Provider as it is watched.
type Provider interface {
	Reach() sandboxes.Reach
	Audit() sandboxes.Audit
	StatusQueueLen() int
	HeldClaims() int
}

// WatchProvider reads at each scrape what the provider's loops know. It may be
// called once.
func (m *Metrics) WatchProvider(p Provider) {
	m.collect(func(s sample) {
		s(m.held, float64(p.HeldClaims()))
		if reach := p.Reach(); reach.Known {
			s(m.reachable, truth(reach.Err == nil))
		}
		if audit := p.Audit(); !audit.At.IsZero() {
			for _, f := range sandboxes.Findings() {
				s(m.findings, float64(audit.Counts[f]), string(f))
			}
			s(m.lastScan, seconds(audit.At))
		}
	}, m.held, m.reachable, m.findings, m.lastScan)
}
