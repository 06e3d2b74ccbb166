// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// The operations that virtual-kubelet requests for a Pod, as label values.
const (
	verbCreate = "create"
	verbUpdate = "update"
	verbDelete = "delete"
)

func verbs() []string { return []string{verbCreate, verbUpdate, verbDelete} }

// Metrics counts and times Pod operations, and exposes the state of the loops.
type Metrics struct {
	registry           *metrics.Registry
	operations         *metrics.CounterVec
	duration           *metrics.HistogramVec
	held, unadoptable  *metrics.Desc
	ending, reachable  *metrics.Desc
	findings, lastScan *metrics.Desc
}

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	const labelOperation, labelFinding = "operation", "finding"
	values := map[string][]string{labelOperation: verbs(), metrics.LabelResult: sandboxd.Results()}
	m := &Metrics{
		registry: r,
		operations: r.Counter(metrics.Family{
			Name: "pod_operations_total", Labels: []string{labelOperation, metrics.LabelResult}, Values: values,
			Help: "Attempts to create, update or delete a Pod. A failed one is repeated.",
		}),
		duration: r.Histogram(metrics.Family{
			Name: "pod_operation_duration_seconds", Labels: []string{labelOperation}, Values: values,
			Help: "Duration of an attempt, with its requests to sandboxd and the write of the claims table.",
		}, metrics.CallBuckets()),
		held: r.Read(metrics.Family{
			Name: "claims_held",
			Help: "Claims held because several lost their Pods and owners together.",
		}),
		unadoptable: r.Read(metrics.Family{
			Name: "claims_unadoptable",
			Help: "Preserved claims that no Pod can adopt, because the name of their Pod was random.",
		}),
		ending: r.Read(metrics.Family{
			Name: "leases_ending",
			Help: "Running Pods that were, or are about to be, warned that the lease of their microVM ends.",
		}),
		reachable: r.Read(metrics.Family{
			Name: "sandboxd_reachable",
			Help: "1 if sandboxd answered the last health check and accepted the token, else 0.",
		}),
		findings: r.Read(metrics.Family{
			Name: "orphan_scan_findings", Labels: []string{labelFinding}, Values: map[string][]string{labelFinding: metrics.Texts(sandboxes.Findings())},
			Help: "Findings of the last orphan scan. Absent without the scan.",
		}),
		lastScan: r.Read(metrics.Family{
			Name: "orphan_scan_last_success_timestamp_seconds",
			Help: "When the orphan scan last succeeded. Absent without the scan.",
		}),
	}
	for _, verb := range verbs() {
		m.duration.WithLabelValues(verb)
		for _, result := range sandboxd.Results() {
			m.operations.WithLabelValues(verb, result)
		}
	}
	return m
}

// Watched is the state of a [Provider] that is read at each scrape.
type Watched interface {
	SandboxdReachable() metav1.Condition
	Audit() sandboxes.Audit
	HeldClaims() int
	UnadoptableClaims() int
	LeasesEnding() int
}

// Watch reads the provider's state at each scrape. It may be called once.
func (m *Metrics) Watch(p Watched) {
	m.registry.Collect(func(sample metrics.Sample) {
		sample(m.held, float64(p.HeldClaims()))
		sample(m.unadoptable, float64(p.UnadoptableClaims()))
		sample(m.ending, float64(p.LeasesEnding()))
		if c := p.SandboxdReachable(); c.Status != metav1.ConditionUnknown {
			sample(m.reachable, metrics.Bool(c.Status == metav1.ConditionTrue))
		}
		if audit := p.Audit(); !audit.At.IsZero() {
			for _, f := range sandboxes.Findings() {
				sample(m.findings, float64(audit.Counts[f]), string(f))
			}
			sample(m.lastScan, metrics.Seconds(audit.At))
		}
	}, m.held, m.unadoptable, m.ending, m.reachable, m.findings, m.lastScan)
}

// Lifecycle is the interface of a [Provider] that virtual-kubelet calls.
type Lifecycle interface {
	node.PodLifecycleHandler
	node.PodNotifier
}

// Measure returns next with its Pod operations counted and timed. Reads are not measured:
// they are answered from memory.
func (m *Metrics) Measure(next Lifecycle) Lifecycle { return &measured{Lifecycle: next, metrics: m} }

type measured struct {
	Lifecycle
	metrics *Metrics
}

func (p *measured) observe(verb string, start time.Time, err error) error {
	p.metrics.duration.WithLabelValues(verb).Observe(time.Since(start).Seconds())
	p.metrics.operations.WithLabelValues(verb, sandboxd.Result(err)).Inc()
	return err
}

// CreatePod implements virtual-kubelet's PodLifecycleHandler.
func (p *measured) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	start := time.Now()
	return p.observe(verbCreate, start, p.Lifecycle.CreatePod(ctx, pod))
}

// UpdatePod implements virtual-kubelet's PodLifecycleHandler.
func (p *measured) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	start := time.Now()
	return p.observe(verbUpdate, start, p.Lifecycle.UpdatePod(ctx, pod))
}

// DeletePod implements virtual-kubelet's PodLifecycleHandler.
func (p *measured) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	start := time.Now()
	return p.observe(verbDelete, start, p.Lifecycle.DeletePod(ctx, pod))
}
