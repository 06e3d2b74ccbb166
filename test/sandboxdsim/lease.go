// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"errors"
	"net/http"
	"time"
)

// errUnchanged tells change that there is nothing to do.
var errUnchanged = errors.New("unchanged")

// change applies fn to a copy of the claim on the VM, stores the copy and records the event.
func (d *daemon) change(id string, how EventType, by Actor, fn func(*claim) error) (vm, error) {
	v, ok := d.vms[id]
	if !ok || v.Claim == nil {
		return vm{}, errNoSandbox(id)
	}
	c := *v.Claim
	switch err := fn(&c); {
	case errors.Is(err, errUnchanged):
		return v, nil
	case err != nil:
		return vm{}, err
	}
	v.Claim = &c
	if err := d.keep(v); err != nil {
		return vm{}, err
	}
	d.note(v, how, by)
	return v, nil
}

// hibernate puts the memory on disk; the lease keeps running.
func (d *daemon) hibernate(c *claim) error {
	if c.hibernated() {
		return errUnchanged
	}
	c.HibernatedAt = d.cfg.Clock.Now().UTC()
	return nil
}

// archive moves the sandbox off the node; its lease becomes the store's retention window.
func (d *daemon) archive(c *claim) error {
	if c.Archived {
		return errUnchanged
	}
	now := d.cfg.Clock.Now().UTC()
	if !c.hibernated() {
		c.HibernatedAt = now
	}
	c.Archived = true
	c.Deadline = now.Add(d.cfg.ArchiveRetention)
	return nil
}

// wake brings the memory back. An archived sandbox needs room on the node and gets a fresh lease.
func (d *daemon) wake(c *claim) error {
	if !c.hibernated() {
		return errUnchanged
	}
	if c.Archived {
		if d.full(c.By) {
			return d.tooMany("no room to wake the sandbox: the node is at max_claims")
		}
		c.startLease(d.cfg.Clock.Now().UTC())
	}
	c.HibernatedAt, c.Archived = time.Time{}, false
	return nil
}

// renew starts a lease of another length.
func (d *daemon) renew(seconds int64) func(*claim) error {
	return func(c *claim) error {
		if c.Archived {
			return newError(http.StatusConflict, "the sandbox is archived: its lease is the store's retention window; wake it first")
		}
		c.TTL = Duration(grantTTL(seconds))
		c.startLease(d.cfg.Clock.Now().UTC())
		return nil
	}
}
