// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// state remembers what was logged last, so that only a change is logged.
type state struct {
	published bool      // the last cycle published
	truncated bool      // the last publication left entries out
	failing   string    // kind of the last failure
	since     time.Time // when the first of the failures in a row ended
}

// report logs how the cycle's outcome differs from that of the cycle before.
func (s *state) report(logger klog.Logger, now time.Time, p publication, err error) {
	if err != nil {
		s.reportFailure(logger, now, err)
		return
	}
	switch {
	case s.failing != "":
		logger.Info("Inventory is published again", "entries", p.entries, "failedFor", now.Sub(s.since).Round(time.Second))
	case !s.published:
		logger.Info("Inventory published", "entries", p.entries)
	}
	truncated := p.entries < p.total
	switch {
	case truncated && !s.truncated:
		logger.Info("Inventory does not hold all sandboxes; the others run, and are left out to keep the object within its size limit",
			"entries", p.entries, "total", p.total, "limitBytes", MaxBytes)
	case !truncated && s.truncated:
		logger.Info("Inventory holds all sandboxes again", "entries", p.entries)
	}
	*s = state{published: true, truncated: truncated}
}

func (s *state) reportFailure(logger klog.Logger, now time.Time, err error) {
	kind := nodeobject.Kind(err)
	if s.failing == "" {
		s.since = now
	}
	if s.failing != kind {
		logger.Error(err, "Inventory not published; the last published copy stays and the next cycle tries again")
	}
	s.published = false
	s.failing = kind
}
