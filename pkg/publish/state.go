// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"time"

	"k8s.io/klog/v2"
)

// state is what was logged last, so that only changes are logged. The zero value is the
// state before the first cycle.
type state struct {
	published bool
	failing   string // class of the last failure; empty after a success
	since     time.Time
	truncated bool // the last publication left items out
}

// failed logs a failure if its class differs from that of the previous cycle.
func (s *state) failed(logger klog.Logger, k Kind, now time.Time, err error) {
	class := classOf(err)
	if s.failing == "" {
		s.since = now
	}
	if s.failing != class {
		logger.Error(err, k.Messages.Failed)
	}
	s.failing = class
}

// succeeded logs how a publication differs from the previous one.
func (s *state) succeeded(logger klog.Logger, k Kind, now time.Time, p Publication) {
	before := *s
	*s = state{published: true, truncated: p.Items < p.Total}
	switch {
	case before.failing != "":
		logger.Info(k.Messages.Recovered, k.Items, p.Items, "failedFor", now.Sub(before.since).Round(time.Second))
	case !before.published:
		logger.Info(k.Messages.Published, k.Items, p.Items)
	case p.Repaired:
		logger.Info(k.Messages.Repaired, k.Items, p.Items)
	}
	switch {
	case s.truncated && !before.truncated:
		logger.Info(k.Messages.Truncated, k.Items, p.Items, "total", p.Total, "leftOut", p.Total-p.Items, "limitBytes", k.MaxBytes)
	case !s.truncated && before.truncated:
		logger.Info(k.Messages.Complete, k.Items, p.Items)
	}
}
