// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/component-base/metrics"
)

// Metrics is one daemon's metrics, with a registry of its own. It is safe for
// concurrent use.
type Metrics struct {
	registry metrics.KubeRegistry
	families []Family

	requests        *metrics.CounterVec
	requestDuration *metrics.HistogramVec
	podOperations   *metrics.CounterVec
	podDuration     *metrics.HistogramVec
	writes          *metrics.CounterVec
	writeDuration   *metrics.HistogramVec
	verdicts        *metrics.CounterVec
	publications    *metrics.CounterVec
	lastPublication *metrics.GaugeVec

	claims, durable    *metrics.Desc
	held               *metrics.Desc
	accepted           *metrics.Desc
	reachable          *metrics.Desc
	findings, lastScan *metrics.Desc
	queueDepth         *metrics.Desc
}

// New returns the metrics of a build of this version. What is counted starts
// at zero; what is watched appears when watching begins.
func New(version string) *Metrics {
	m := &Metrics{registry: metrics.NewKubeRegistry()}
	m.define()
	m.startAtZero()
	m.gauge(Family{
		Name: "build_info", Labels: []string{"version", "go_version"},
		Help: "Always 1; its labels say which build runs.",
	}).WithLabelValues(version, runtime.Version()).Set(1)
	// There is no other way for collectors that are not Kubernetes'.
	m.registry.RawMustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Families describes every metric of the daemon itself, ordered by name. The
// collectors of the Go runtime and of the process are not in it.
func (m *Metrics) Families() []Family { return m.families }

// Handler serves the metrics in the formats that Prometheus asks for. Of what
// cannot be collected it leaves out that part alone.
func (m *Metrics) Handler() http.Handler {
	return metrics.HandlerFor(m.registry, metrics.HandlerOpts{ErrorHandling: metrics.ContinueOnError})
}

// describe completes a family and adds it to the list.
func (m *Metrics) describe(f Family, kind Type) Family {
	f.Name, f.Type, f.Stability = prefix+f.Name, kind, metrics.ALPHA
	at, _ := slices.BinarySearchFunc(m.families, f.Name, func(f Family, name string) int {
		if f.Name < name {
			return -1
		}
		return 1
	})
	m.families = slices.Insert(m.families, at, f)
	return f
}

func (m *Metrics) counter(f Family) *metrics.CounterVec {
	f = m.describe(f, Counter)
	v := metrics.NewCounterVec(&metrics.CounterOpts{Name: f.Name, Help: f.Help, StabilityLevel: f.Stability}, f.Labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(f Family) *metrics.GaugeVec {
	f = m.describe(f, Gauge)
	v := metrics.NewGaugeVec(&metrics.GaugeOpts{Name: f.Name, Help: f.Help, StabilityLevel: f.Stability}, f.Labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(f Family, buckets []float64) *metrics.HistogramVec {
	f = m.describe(f, Histogram)
	v := metrics.NewHistogramVec(&metrics.HistogramOpts{Name: f.Name, Help: f.Help, Buckets: buckets, StabilityLevel: f.Stability}, f.Labels)
	m.registry.MustRegister(v)
	return v
}

// read is a gauge that is read at each scrape.
func (m *Metrics) read(f Family) *metrics.Desc {
	f = m.describe(f, Gauge)
	return metrics.NewDesc(f.Name, f.Help, f.Labels, nil, f.Stability, "")
}
