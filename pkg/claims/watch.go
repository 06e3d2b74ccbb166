// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import "time"

// Writes is the state of the table's writes.
type Writes struct {
	// Last is the time of the last successful write.
	Last time.Time
	// Err is the error of the newest write; nil if it succeeded.
	Err error
}

// Writes returns the state of the table's writes. It never blocks on the disk.
func (t *Table) Writes() Writes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writes
}

// Changes receives a value after one or more changes of a claim's state or of
// [Table.Writes]. It is for one receiver, and several changes can share one value.
func (t *Table) Changes() <-chan struct{} { return t.changes }

// signal wakes the receiver of Changes. It never blocks.
func (t *Table) signal() {
	select {
	case t.changes <- struct{}{}:
	default:
	}
}

// ObserveWrites calls observe after each later write, before the write's waiters return.
// observe must be quick and must not call the table.
func (t *Table) ObserveWrites(observe func(took time.Duration, err error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observe = observe
}

// CountByState returns the number of claims in each state. Every state has an entry.
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
