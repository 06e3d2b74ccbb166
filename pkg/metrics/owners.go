// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
)

// Owners returns next with its verdicts counted.
func (m *Metrics) Owners(next provider.Owners) provider.Owners {
	return &countedOwners{metrics: m, next: next}
}

type countedOwners struct {
	metrics *Metrics
	next    provider.Owners
}

func (o *countedOwners) judged(d ownership.Decision) ownership.Decision {
	verdict := verdictPreserve
	if d.Release {
		verdict = verdictRelease
	}
	o.metrics.verdicts.WithLabelValues(verdict, string(d.Cause)).Inc()
	return d
}

// Owner implements [provider.Owners].
func (o *countedOwners) Owner(ctx context.Context, namespace string, owner claims.Owner) ownership.Decision {
	return o.judged(o.next.Owner(ctx, namespace, owner))
}

// Pod implements [provider.Owners].
func (o *countedOwners) Pod(ctx context.Context, namespace, name string, uid types.UID) ownership.Decision {
	return o.judged(o.next.Pod(ctx, namespace, name, uid))
}
