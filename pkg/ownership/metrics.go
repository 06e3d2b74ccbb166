// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
)

// Decider decides whether a microVM may be destroyed; [Authorizer] implements it.
type Decider interface {
	Owner(ctx context.Context, namespace string, o claims.Owner) Decision
	Pod(ctx context.Context, namespace, name string, uid types.UID) Decision
}

// Metrics counts verdicts.
type Metrics struct{ verdicts *metrics.CounterVec }

const (
	verdictRelease  = "release"
	verdictPreserve = "preserve"
)

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	const labelVerdict, labelCause = "verdict", "cause"
	m := &Metrics{r.Counter(metrics.Family{
		Name: "owner_verdicts_total", Labels: []string{labelVerdict, labelCause},
		Values: map[string][]string{labelVerdict: {verdictRelease, verdictPreserve}, labelCause: metrics.Texts(Causes())},
		Help:   "Verdicts on whether a microVM may be destroyed, by the state of its owner.",
	})}
	for _, cause := range Causes() {
		m.verdicts.WithLabelValues(verdict(cause.Releases()), string(cause))
	}
	return m
}

func verdict(release bool) string {
	if release {
		return verdictRelease
	}
	return verdictPreserve
}

// Count returns next with its verdicts counted.
func (m *Metrics) Count(next Decider) Decider { return &counted{metrics: m, next: next} }

type counted struct {
	metrics *Metrics
	next    Decider
}

func (c *counted) count(d Decision) Decision {
	c.metrics.verdicts.WithLabelValues(verdict(d.Release), string(d.Cause)).Inc()
	return d
}

// Owner implements [Decider].
func (c *counted) Owner(ctx context.Context, namespace string, o claims.Owner) Decision {
	return c.count(c.next.Owner(ctx, namespace, o))
}

// Pod implements [Decider].
func (c *counted) Pod(ctx context.Context, namespace, name string, uid types.UID) Decision {
	return c.count(c.next.Pod(ctx, namespace, name, uid))
}
