// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "k8s.io/component-base/metrics"

// Sample sends one value to a scrape.
type Sample func(desc *Desc, value float64, labels ...string)

// Collect registers read, which is called at each scrape for the values of these gauges.
// It may be called once for each gauge.
func (r *Registry) Collect(read func(Sample), descs ...*Desc) {
	r.registry.CustomMustRegister(&collector{descs: descs, read: read})
}

// collector reads values when it is scraped.
type collector struct {
	metrics.BaseStableCollector
	descs []*Desc
	read  func(Sample)
}

// DescribeWithStability implements [metrics.StableCollector].
func (c *collector) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// CollectWithStability implements [metrics.StableCollector].
func (c *collector) CollectWithStability(ch chan<- metrics.Metric) {
	c.read(func(desc *metrics.Desc, value float64, labels ...string) {
		ch <- metrics.NewLazyConstMetric(desc, metrics.GaugeValue, value, labels...)
	})
}
