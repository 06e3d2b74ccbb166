// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/cocoonstack/vk-sandbox/pkg/place"

// Guard is pkg/place's Guard as it is watched.
type Guard interface {
	Status() place.Status
}

// WatchGuard reads at each scrape whether the claims table belongs here. It may be
// called once.
func (m *Metrics) WatchGuard(guard Guard) {
	m.collect(func(s sample) {
		if status := guard.Status(); status.State != place.Unknown {
			s(m.accepted, truth(status.State == place.Accepted))
		}
	}, m.accepted)
}
