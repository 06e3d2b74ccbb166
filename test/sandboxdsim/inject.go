// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"math"
	"slices"
)

// inject lets the faults of one point strike. It returns the reply to give, and whether a fault settled
// the request; errDropped means that there is no reply.
func (c *call) inject(p Point, rep reply) (reply, bool, error) {
	for _, f := range c.server.faults.strike(c.endpoint.name, c.request.PathValue("id"), p, c.server.env.cfg.Clock.Now()) {
		switch f.Action {
		case ActionStatus:
			e := newError(f.Status, "%s", f.Message)
			e.retryAfter = f.RetryAfter.std()
			injected := e.reply()
			injected.claimed = rep.claimed
			return injected, true, nil
		case ActionDrop:
			return rep, true, errDropped
		case ActionHang:
			c.hang()
			return rep, true, errDropped
		case ActionRestart:
			if err := c.server.Restart(RestartOptions{}); err != nil {
				c.server.env.cfg.Logger.Error(err, "Restart failed")
			}
			return rep, true, errDropped
		case ActionDelay:
			if err := c.daemon.pause(f.Delay.std()); err != nil {
				return rep, true, err
			}
		case ActionRejectToken:
			c.rejectToken = true
		case ActionRejectSandboxToken:
			c.rejectSandboxToken = true
		case ActionOmit, ActionEmpty:
			c.omissions = append(c.omissions, f)
		case ActionTruncate:
			rep.body, rep.truncated = rep.body[:len(rep.body)/2], true
		case ActionRewrite:
			if err := rep.rewrite(f); err != nil {
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
	case <-c.daemon.stopped:
	}
}

// omit leaves out of the index, which is ordered by age, what the faults hide.
func (c *call) omit(rows []row) []row {
	for _, f := range c.omissions {
		if f.Action == ActionEmpty {
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
