// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// Hibernate hibernates a sandbox as by the daemon's own decision.
func (h *Host) Hibernate(id string) error {
	_, err := h.Daemon().change(id, history.EventHibernated, history.ByControl, (*Claim).hibernate)
	return err
}

// Archive moves a sandbox off the host; its lease becomes the store's retention window.
func (h *Host) Archive(id string) error {
	d := h.Daemon()
	_, err := d.change(id, history.EventArchived, history.ByControl, d.archive)
	return err
}

// Wake wakes a hibernated or archived sandbox.
func (h *Host) Wake(id string) error {
	_, err := h.Daemon().Wake(id, history.ByControl)
	return err
}

// MoveLease gives a sandbox another deadline.
func (h *Host) MoveLease(id string, deadline time.Time) error {
	_, err := h.Daemon().change(id, history.EventLeaseMoved, history.ByControl, func(c *Claim, _ time.Time) error {
		c.Deadline = deadline.UTC()
		return nil
	})
	return err
}

// Expire ends the lease of a sandbox now and reaps it.
func (h *Host) Expire(id string) error {
	return h.Daemon().End(id, history.EventReaped, history.ByReaper)
}

// Lose makes the VM of a sandbox vanish, as if it had crashed.
func (h *Host) Lose(id string) error {
	return h.Daemon().End(id, history.EventLost, history.ByControl)
}
