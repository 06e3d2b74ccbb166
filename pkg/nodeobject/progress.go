// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import "time"

// Progress remembers how a publisher's last try ended, so that only a change is
// logged. The zero value stands for no try yet.
type Progress struct {
	published bool
	failing   string // kind of the last failure
	since     time.Time
}

// Change is how a successful try differs from the one before it.
type Change int

// The changes that a success can be.
const (
	Unchanged Change = iota
	First            // nothing was published before
	Recovered        // the tries before it failed
)

// Fail notes that a try failed at the time now, and reports whether the failure is
// of another kind than that of the try before.
func (p *Progress) Fail(now time.Time, err error) (changed bool) {
	kind := Kind(err)
	if p.failing == "" {
		p.since = now
	}
	changed = p.failing != kind
	p.failing = kind
	return changed
}

// Succeed notes that a try published, and returns what that changes and, after
// failures, for how long there were only those, in whole seconds.
func (p *Progress) Succeed(now time.Time) (Change, time.Duration) {
	before := *p
	*p = Progress{published: true}
	switch {
	case before.failing != "":
		return Recovered, now.Sub(before.since).Round(time.Second)
	case !before.published:
		return First, 0
	}
	return Unchanged, 0
}
