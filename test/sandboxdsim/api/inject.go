// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math"
	"net/http"
	"slices"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// inject lets the faults of one point strike. It returns the reply to give, and whether a fault settled
// the request; host.ErrDropped means that there is no reply.
func (c *call) inject(p fault.Point, rep Reply) (Reply, bool, error) {
	for _, f := range c.server.faults.Strike(c.endpoint.name, c.request.PathValue("id"), p) {
		switch f.Action {
		case fault.ActionStatus:
			e := host.Errorf(f.Status, "%s", f.Message)
			e.RetryAfter = f.RetryAfter.Duration
			injected := ErrorReply(e)
			injected.claimed = rep.claimed
			return injected, true, nil
		case fault.ActionDrop:
			return rep, true, host.ErrDropped
		case fault.ActionHang:
			c.hang()
			return rep, true, host.ErrDropped
		case fault.ActionRestart:
			if err := c.server.restart(); err != nil {
				c.server.config.Logger.Error(err, "Restart failed")
			}
			return rep, true, host.ErrDropped
		case fault.ActionDelay:
			if err := c.daemon.Pause(f.Delay.Duration); err != nil {
				return rep, true, err
			}
		case fault.ActionRejectToken:
			c.rejectToken = true
		case fault.ActionRejectSandboxToken:
			c.rejectSandboxToken = true
		case fault.ActionOmit, fault.ActionEmpty:
			c.omissions = append(c.omissions, f)
		case fault.ActionTruncate:
			rep.body, rep.truncated = rep.body[:len(rep.body)/2], true
		case fault.ActionRewrite:
			if rep.Status != http.StatusOK || rep.plain || rep.truncated {
				continue // only a whole answer is rewritten
			}
			var err error
			if rep.body, err = f.Rewrite(rep.body); err != nil {
				return rep, true, err
			}
		}
	}
	return rep, false, nil
}

// hang waits until the client or the daemon is gone.
func (c *call) hang() {
	select {
	case <-c.request.Context().Done():
	case <-c.daemon.Stopped():
	}
}

// omit leaves out of the index, which is ordered by age, what the faults hide.
func (c *call) omit(rows []row) []row {
	for _, f := range c.omissions {
		if f.Action == fault.ActionEmpty {
			return []row{}
		}
		hidden := max(f.Rows, int(math.Ceil(f.Fraction*float64(len(rows)))))
		rows = slices.Clone(rows[min(hidden, len(rows)):])
		rows = slices.DeleteFunc(rows, func(r row) bool {
			return slices.Contains(f.ClaimRefs, r.ClaimRef) || slices.Contains(f.Sandboxes, r.ID)
		})
	}
	return rows
}
