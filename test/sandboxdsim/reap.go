// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "time"

// Reap destroys every claimed VM whose deadline has come, and archives what has been hibernated for
// [Config.ArchiveAfter]. It returns the ids of the destroyed, the oldest claim first.
func (s *Server) Reap() ([]string, error) {
	d := s.current()
	var reaped []string
	err := d.do(func() error {
		now := d.cfg.Clock.Now()
		for _, v := range d.claims() {
			if !now.Before(v.Claim.Deadline) {
				if err := d.destroy(v, EventReaped, ByReaper); err != nil {
					return err
				}
				reaped = append(reaped, v.ID)
				continue
			}
			if d.archiveDue(*v.Claim, now) {
				if _, err := d.change(v.ID, EventArchived, ByArchive, d.archive); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return reaped, ignoreDropped(err)
}

func (d *daemon) archiveDue(c claim, now time.Time) bool {
	after := d.cfg.ArchiveAfter
	return after > 0 && c.hibernated() && !c.Archived && !now.Before(c.HibernatedAt.Add(after))
}
