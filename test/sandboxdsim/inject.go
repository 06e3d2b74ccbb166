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
	for _, f := range c.server.faults.strike(c.endpoint.name, p, c.server.env.cfg.Clock.Now()) {
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
		case ActionMalform:
			c.malformations = append(c.malformations, f)
		case ActionAddress:
			c.address = &f.Address
		case ActionTruncate:
			rep.body, rep.truncated = rep.body[:len(rep.body)/2], true
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
		hidden := f.oldest(rows)
		rows = slices.Clone(rows[hidden:])
		rows = slices.DeleteFunc(rows, func(r row) bool { return slices.Contains(f.ClaimRefs, r.ClaimRef) })
	}
	return rows
}

// malform gives the rows that the faults name a deadline that is no time.
func (c *call) malform(rows []row) []row {
	for _, f := range c.malformations {
		struck := f.oldest(rows)
		for i := range rows {
			if i < struck || slices.Contains(f.ClaimRefs, rows[i].ClaimRef) {
				rows[i].Deadline = malformedTime
			}
		}
	}
	return rows
}

// oldest is how many rows, the oldest first, a fault names by Rows and Fraction.
func (f Fault) oldest(rows []row) int {
	return min(max(f.Rows, int(math.Ceil(f.Fraction*float64(len(rows))))), len(rows))
}
