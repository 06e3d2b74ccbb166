// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "net/http"

// drain serves POST /v1/drain: no more claims, and the warm VMs go. A restart lifts it.
func (c *call) drain() (reply, error) {
	d := c.daemon
	err := d.do(func() error {
		d.draining = true
		for _, p := range d.pools {
			if err := d.discard(p, 0, ByDrain); err != nil {
				return err
			}
		}
		return nil
	})
	return reply{status: http.StatusNoContent}, err
}

// undrain serves DELETE /v1/drain.
func (c *call) undrain() (reply, error) {
	err := c.daemon.do(func() error {
		c.daemon.draining = false
		return nil
	})
	return reply{status: http.StatusNoContent}, err
}
