// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "time"

// Hibernate hibernates a sandbox as by the daemon's own will.
func (s *Server) Hibernate(id string) error {
	return s.force(id, EventHibernated, s.current().hibernate)
}

// Archive moves a sandbox off the node; its lease becomes [Config.ArchiveRetention].
func (s *Server) Archive(id string) error {
	return s.force(id, EventArchived, s.current().archive)
}

// Wake wakes a hibernated or archived sandbox.
func (s *Server) Wake(id string) error {
	return s.force(id, EventWoken, s.current().wake)
}

// MoveLease gives a sandbox another deadline.
func (s *Server) MoveLease(id string, deadline time.Time) error {
	return s.force(id, EventLeaseMoved, func(c *claim) error {
		c.Deadline = deadline.UTC()
		return nil
	})
}

// Expire ends the lease of a sandbox now and reaps it.
func (s *Server) Expire(id string) error {
	return s.end(id, EventReaped, ByReaper)
}

// Lose makes the VM of a sandbox vanish, as if it had crashed.
func (s *Server) Lose(id string) error {
	return s.end(id, EventLost, ByControl)
}

func (s *Server) force(id string, how EventType, fn func(*claim) error) error {
	d := s.current()
	return d.do(func() error {
		_, err := d.change(id, how, ByControl, fn)
		return err
	})
}

func (s *Server) end(id string, how EventType, by Actor) error {
	d := s.current()
	return d.do(func() error {
		v, ok := d.vms[id]
		if !ok || v.Claim == nil {
			return errNoSandbox(id)
		}
		return d.destroy(v, how, by)
	})
}
