// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/nodeobject"
)

// state remembers what was logged last, so that only a change is logged.
type state struct {
	progress  nodeobject.Progress
	truncated bool // the last publication left rows out
}

// report logs how the outcome of a try differs from that of the one before.
func (s *state) report(logger klog.Logger, now time.Time, p *publication, err error) {
	if err != nil {
		if s.progress.Fail(now, err) {
			logger.Error(err, "Claim status not published; the last published copy stays, and it is tried again")
		}
		return
	}
	switch change, failedFor := s.progress.Succeed(now); {
	case change == nodeobject.Recovered:
		logger.Info("Claim status is published again", "claims", p.rows, "failedFor", failedFor)
	case change == nodeobject.First:
		logger.Info("Claim status published", "claims", p.rows)
	case p.repaired:
		logger.Info("Claim status was changed or deleted by someone else; it is published again", "claims", p.rows)
	}
	truncated := p.truncated > 0
	switch {
	case truncated && !s.truncated:
		logger.Info("Claim status does not show all claims; the others are held, and are left out to keep the object within its size limit",
			"claims", p.rows, "leftOut", p.truncated, "limitBytes", MaxBytes)
	case !truncated && s.truncated:
		logger.Info("Claim status shows all claims again", "claims", p.rows)
	}
	s.truncated = truncated
}
