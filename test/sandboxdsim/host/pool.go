// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"net/http"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// pool is a warm pool at work.
type pool struct {
	config.Pool
	// warm holds the ids of the VMs that a claim can have, the oldest first.
	warm []string
}

type pools []*pool

func (all pools) find(k config.Key) *pool {
	for _, p := range all {
		if p.Key == k {
			return p
		}
	}
	return nil
}

// resolve finds the pool for a key, or says which axis is at fault.
func (all pools) resolve(k config.Key) (*pool, error) {
	if err := k.Validate(); err != nil {
		return nil, Errorf(http.StatusBadRequest, "%v", err)
	}
	template, lane := false, k.Net == config.DefaultNet
	for _, p := range all {
		template = template || p.Template == k.Template
		lane = lane || p.Net == k.Net
	}
	p := all.find(k)
	switch {
	case !template:
		return nil, Errorf(http.StatusBadRequest, "unknown template %q", k.Template)
	case !lane:
		return nil, Errorf(http.StatusConflict, "net %q: this node has no such egress attachment", k.Net)
	case p == nil:
		return nil, Errorf(http.StatusBadRequest, "no pool for %v", k)
	}
	return p, nil
}

// Refill adds one warm VM to every pool that is below its target, and returns how many it made. How
// often it is called bounds the rate. A draining daemon refills nothing.
func (h *Host) Refill() (int, error) {
	d := h.Daemon()
	made := 0
	err := d.do(func() error {
		if d.draining {
			return nil
		}
		for _, p := range d.pools {
			if len(p.warm) >= p.Target {
				continue
			}
			if err := d.warm(p, 1, history.ByRefill); err != nil {
				return err
			}
			made++
		}
		return nil
	})
	return made, ignoreDropped(err)
}

// warm makes n warm VMs.
func (d *Daemon) warm(p *pool, n int, by history.Actor) error {
	for range n {
		v, err := d.make(p.Key)
		if err != nil {
			return err
		}
		if err := d.keep(v); err != nil {
			return err
		}
		p.warm = append(p.warm, v.ID)
		d.note(v, history.EventMade, by)
	}
	return nil
}

// discard destroys the oldest warm VMs until n are left.
func (d *Daemon) discard(p *pool, n int, by history.Actor) error {
	for len(p.warm) > n {
		if err := d.destroy(d.vms[p.warm[0]], history.EventDiscarded, by); err != nil {
			return err
		}
		p.warm = p.warm[1:]
	}
	return nil
}

// Drain begins a drain, which makes no more claims and destroys the warm VMs, or ends it. A restart ends it too.
func (d *Daemon) Drain(begin bool) error {
	return d.do(func() error {
		d.draining = begin
		if !begin {
			return nil
		}
		for _, p := range d.pools {
			if err := d.discard(p, 0, history.ByDrain); err != nil {
				return err
			}
		}
		return nil
	})
}
