// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "net/http"

// release serves POST /v1/sandboxes/{id}/release: the VM is destroyed.
func (c *call) release() (reply, error) {
	id := c.request.PathValue("id")
	err := c.daemon.do(func() error {
		v, ok := c.daemon.vms[id]
		if !ok || v.Claim == nil {
			return errNoSandbox(id)
		}
		return c.daemon.destroy(v, EventReleased, c.by)
	})
	return reply{status: http.StatusNoContent}, err
}
