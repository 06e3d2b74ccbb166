// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import "time"

// ObserveWrites calls observe after each write from now on, before those who
// wait for the write return. It has to be quick and must not call the table.
func (t *Table) ObserveWrites(observe func(took time.Duration, err error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observe = observe
}

// CountByState returns how many claims are in each state. Every state has an
// entry.
func (t *Table) CountByState() map[State]int {
	counts := map[State]int{Tentative: 0, Bound: 0, Preserved: 0, Quarantined: 0, Releasing: 0}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.claims.ordered {
		counts[e.State]++
	}
	counts[Releasing] = len(t.releasing)
	return counts
}
