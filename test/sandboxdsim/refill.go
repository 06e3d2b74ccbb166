// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

// Refill adds one warm VM to every pool that is below its target, and returns how many it made. How
// often it is called bounds the rate. A draining daemon refills nothing.
func (s *Server) Refill() (int, error) {
	d := s.current()
	made := 0
	err := d.do(func() error {
		if d.draining {
			return nil
		}
		for _, p := range d.pools {
			if len(p.warm) >= p.Target {
				continue
			}
			if err := d.warm(p, 1, ByRefill); err != nil {
				return err
			}
			made++
		}
		return nil
	})
	return made, ignoreDropped(err)
}

// warm makes n warm VMs.
func (d *daemon) warm(p *pool, n int, by Actor) error {
	for range n {
		v, err := d.make(p.Key)
		if err != nil {
			return err
		}
		if err := d.keep(v); err != nil {
			return err
		}
		p.warm = append(p.warm, v.ID)
		d.note(v, EventMade, by)
	}
	return nil
}

// discard destroys the oldest warm VMs until n are left.
func (d *daemon) discard(p *pool, n int, by Actor) error {
	for len(p.warm) > n {
		if err := d.destroy(d.vms[p.warm[0]], EventDiscarded, by); err != nil {
			return err
		}
		p.warm = p.warm[1:]
	}
	return nil
}
