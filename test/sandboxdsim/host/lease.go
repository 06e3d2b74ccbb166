// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"net/http"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// Hibernate hibernates a sandbox, unless it is on an egress lane.
func (d *Daemon) Hibernate(id string, by history.Actor) error {
	return d.do(func() error {
		v, err := d.claimed(id)
		if err == nil && v.Key.Net != config.DefaultNet {
			err = Errorf(http.StatusConflict, "a sandbox on the egress lane %q cannot hibernate", v.Key.Net)
		}
		if err == nil {
			_, err = d.apply(id, history.EventHibernated, by, (*Claim).hibernate)
		}
		return err
	})
}

// Wake wakes a hibernated or archived sandbox. An archived one needs room on the host and gets a fresh lease.
func (d *Daemon) Wake(id string, by history.Actor) (VM, error) {
	return d.change(id, history.EventWoken, by, func(c *Claim, now time.Time) error {
		if c.Archived && d.full(c.By) {
			return d.limits.tooMany("no room to wake the sandbox: the node is at max_claims")
		}
		return c.wake(now)
	})
}

// Renew starts a lease of another length, which is read as a claim's is.
func (d *Daemon) Renew(id string, by history.Actor, seconds int64) (VM, error) {
	if err := checkTTL(seconds); err != nil {
		return VM{}, err
	}
	return d.change(id, history.EventRenewed, by, func(c *Claim, now time.Time) error { return c.renew(now, seconds) })
}

// archive moves a sandbox off the host; its lease becomes the store's retention window.
func (d *Daemon) archive(c *Claim, now time.Time) error {
	return c.archive(now, d.cfg.ArchiveRetention)
}

// errUnchanged tells apply that there is nothing to do.
var errUnchanged = errors.New("unchanged")

func (d *Daemon) change(id string, how history.EventType, by history.Actor, fn func(*Claim, time.Time) error) (v VM, err error) {
	err = d.do(func() error {
		v, err = d.apply(id, how, by, fn)
		return err
	})
	return v, err
}

// apply applies fn to a copy of the claim on the VM, stores the copy and records the event.
func (d *Daemon) apply(id string, how history.EventType, by history.Actor, fn func(*Claim, time.Time) error) (VM, error) {
	v, err := d.claimed(id)
	if err != nil {
		return VM{}, err
	}
	c := *v.Claim
	switch err := fn(&c, d.cfg.Clock.Now().UTC()); {
	case errors.Is(err, errUnchanged):
		return v, nil
	case err != nil:
		return VM{}, err
	}
	v.Claim = &c
	if err := d.keep(v); err != nil {
		return VM{}, err
	}
	d.note(v, how, by)
	return v, nil
}

// hibernate puts the memory on disk; the lease keeps running.
func (c *Claim) hibernate(now time.Time) error {
	if c.Hibernated() {
		return errUnchanged
	}
	c.HibernatedAt = now
	return nil
}

func (c *Claim) archive(now time.Time, retention time.Duration) error {
	if c.Archived {
		return errUnchanged
	}
	if !c.Hibernated() {
		c.HibernatedAt = now
	}
	c.Archived = true
	c.Deadline = now.Add(retention)
	return nil
}

func (c *Claim) wake(now time.Time) error {
	if !c.Hibernated() {
		return errUnchanged
	}
	if c.Archived {
		c.startLease(now)
	}
	c.HibernatedAt, c.Archived = time.Time{}, false
	return nil
}

func (c *Claim) renew(now time.Time, seconds int64) error {
	if c.Archived {
		return Errorf(http.StatusConflict, "the sandbox is archived: its lease is the store's retention window; wake it first")
	}
	c.TTL = grantTTL(seconds)
	c.startLease(now)
	return nil
}

// Reap destroys every claimed VM whose deadline has come, and archives what has been hibernated for the time that
// the configuration names. It returns the ids of the destroyed, the oldest claim first.
func (h *Host) Reap() ([]string, error) {
	d := h.Daemon()
	var reaped []string
	err := d.do(func() error {
		now := d.cfg.Clock.Now()
		for _, v := range d.claims() {
			if !now.Before(v.Claim.Deadline) {
				if err := d.destroy(v, history.EventReaped, history.ByReaper); err != nil {
					return err
				}
				reaped = append(reaped, v.ID)
				continue
			}
			if v.Claim.archiveDue(d.cfg.ArchiveAfter, now) {
				if _, err := d.apply(v.ID, history.EventArchived, history.ByArchive, d.archive); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return reaped, ignoreDropped(err)
}

func (c *Claim) archiveDue(after time.Duration, now time.Time) bool {
	return after > 0 && c.Hibernated() && !c.Archived && !now.Before(c.HibernatedAt.Add(after))
}
