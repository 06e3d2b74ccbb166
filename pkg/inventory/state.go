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
	progress  nodeobject.Progress
	truncated bool // the last publication left entries out
}

// report logs how the cycle's outcome differs from that of the cycle before.
func (s *state) report(logger klog.Logger, now time.Time, p publication, err error) {
	if err != nil {
		if s.progress.Fail(now, err) {
			logger.Error(err, "Inventory not published; the last published copy stays and the next cycle tries again")
		}
		return
	}
	switch change, failedFor := s.progress.Succeed(now); change {
	case nodeobject.Recovered:
		logger.Info("Inventory is published again", "entries", p.entries, "failedFor", failedFor)
	case nodeobject.First:
		logger.Info("Inventory published", "entries", p.entries)
	case nodeobject.Unchanged:
	}
	truncated := p.entries < p.total
	switch {
	case truncated && !s.truncated:
		logger.Info("Inventory does not hold all sandboxes; the others run, and are left out to keep the object within its size limit",
			"entries", p.entries, "total", p.total, "limitBytes", MaxBytes)
	case !truncated && s.truncated:
		logger.Info("Inventory holds all sandboxes again", "entries", p.entries)
	}
	s.truncated = truncated
}
