// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "k8s.io/component-base/metrics"

// sample gives one value to a scrape.
type sample func(desc *metrics.Desc, value float64, labels ...string)

// collector reads values when it is scraped.
type collector struct {
	metrics.BaseStableCollector
	descs []*metrics.Desc
	read  func(sample)
}

// collect registers a collector of these metrics.
func (m *Metrics) collect(read func(sample), descs ...*metrics.Desc) {
	m.registry.CustomMustRegister(&collector{descs: descs, read: read})
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
