// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/component-base/metrics"
)

// Aliases of the types that a registry returns, so that measuring packages need no other
// import.
type (
	// CounterVec counts events by labels.
	CounterVec = metrics.CounterVec
	// GaugeVec holds values by labels.
	GaugeVec = metrics.GaugeVec
	// HistogramVec counts observations in buckets, by labels.
	HistogramVec = metrics.HistogramVec
	// Desc describes a gauge that is read at each scrape.
	Desc = metrics.Desc
)

// Registry holds one daemon's metrics. It is safe for concurrent use once all metrics are
// defined. Defining a name twice panics.
type Registry struct {
	registry metrics.KubeRegistry
	families []Family
}

// NewRegistry returns a registry with the metrics of the process, the Go runtime and the
// build with this version.
func NewRegistry(version string) *Registry {
	r := &Registry{registry: metrics.NewKubeRegistry()}
	r.Gauge(Family{
		Name: "build_info", Labels: []string{"version", "go_version"},
		Help: "Always 1; its labels name the build.",
	}).WithLabelValues(version, runtime.Version()).Set(1)
	// Collectors of other libraries can only be registered raw.
	r.registry.RawMustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}

// Families describes every metric of the daemon itself, ordered by name, without the
// collectors of the Go runtime and the process.
func (r *Registry) Families() []Family { return r.families }

// Handler serves the metrics in the formats that Prometheus requests. Metrics that cannot
// be collected are left out.
func (r *Registry) Handler() http.Handler {
	return metrics.HandlerFor(r.registry, metrics.HandlerOpts{ErrorHandling: metrics.ContinueOnError})
}

// Counter defines a counter.
func (r *Registry) Counter(f Family) *CounterVec {
	f = r.describe(f, Counter)
	v := metrics.NewCounterVec(&metrics.CounterOpts{Name: f.Name, Help: f.Help, StabilityLevel: f.Stability}, f.Labels)
	r.registry.MustRegister(v)
	return v
}

// Gauge defines a gauge that the program sets.
func (r *Registry) Gauge(f Family) *GaugeVec {
	f = r.describe(f, Gauge)
	v := metrics.NewGaugeVec(&metrics.GaugeOpts{Name: f.Name, Help: f.Help, StabilityLevel: f.Stability}, f.Labels)
	r.registry.MustRegister(v)
	return v
}

// Histogram defines a histogram.
func (r *Registry) Histogram(f Family, buckets []float64) *HistogramVec {
	f = r.describe(f, Histogram)
	v := metrics.NewHistogramVec(&metrics.HistogramOpts{Name: f.Name, Help: f.Help, Buckets: buckets, StabilityLevel: f.Stability}, f.Labels)
	r.registry.MustRegister(v)
	return v
}

// Read defines a gauge that is read at each scrape, once [Registry.Collect] is called for
// it.
func (r *Registry) Read(f Family) *Desc {
	f = r.describe(f, Gauge)
	return metrics.NewDesc(f.Name, f.Help, f.Labels, nil, f.Stability, "")
}

// describe fills in a family and adds it to the list.
func (r *Registry) describe(f Family, kind Type) Family {
	f.Name, f.Type, f.Stability = prefix+f.Name, kind, metrics.ALPHA
	at, _ := slices.BinarySearchFunc(r.families, f.Name, func(f Family, name string) int { return strings.Compare(f.Name, name) })
	r.families = slices.Insert(r.families, at, f)
	return f
}
