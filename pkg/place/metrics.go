// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import "github.com/cocoonstack/vk-sandbox/pkg/metrics"

// Metrics exposes whether the claims table belongs here.
type Metrics struct {
	registry *metrics.Registry
	accepted *metrics.Desc
}

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	return &Metrics{r, r.Read(metrics.Family{
		Name: "claims_table_accepted",
		Help: "1 if the claims table belongs to this cluster and host, 0 if not. Absent until the cluster is identified.",
	})}
}

// Watch calls status, which is [Guard.Status], at each scrape. It may be called once.
func (m *Metrics) Watch(status func() Status) {
	m.registry.Collect(func(sample metrics.Sample) {
		if s := status(); s.State != Unknown {
			sample(m.accepted, metrics.Bool(s.State == Accepted))
		}
	}, m.accepted)
}
