// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"net/http"
	"slices"

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
func (d *Daemon) resolve(k config.Key) (*pool, error) {
	if err := k.Validate(); err != nil {
		return nil, Errorf(http.StatusBadRequest, "%v", err)
	}
	template := slices.ContainsFunc(d.pools, func(p *pool) bool { return p.Template == k.Template })
	p := d.pools.find(k)
	switch {
	case !template:
		return nil, Errorf(http.StatusBadRequest, "unknown template %q", k.Template)
	case !d.cfg.Attached(k.Net):
		return nil, unattached(k.Net)
	case p == nil:
		return nil, Errorf(http.StatusBadRequest, "no pool for %v", k)
	}
	return p, nil
}

// SetPools replaces the whole set of pools, whose keys have their defaults, and keeps it over a restart of the process.
// A pool that stays keeps its warm VMs; those of a pool that is left out are destroyed.
func (d *Daemon) SetPools(set []config.Pool, by history.Actor) error {
	if err := config.ValidatePools(set); err != nil {
		return Errorf(http.StatusBadRequest, "%v", err)
	}
	for _, p := range set {
		if !d.cfg.Attached(p.Net) {
			return unattached(p.Net)
		}
	}
	return d.do(func() error {
		before, next := d.pools, d.pools.replacedBy(set)
		if err := d.store.putPools(next.configs()); err != nil {
			return err
		}
		d.pools = next
		for _, p := range before {
			if next.find(p.Key) == nil {
				if err := d.discard(p, 0, by); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// SetPools replaces the whole set of pools, as [Daemon.SetPools] does. Net and size default as in a claim.
func (h *Host) SetPools(set []config.Pool) error {
	set = slices.Clone(set)
	for i := range set {
		set[i].Key = set[i].WithDefaults()
	}
	return h.Daemon().SetPools(set, history.ByControl)
}

// replacedBy returns the new set. A pool that stays keeps its warm VMs and its golden snapshot.
func (all pools) replacedBy(set []config.Pool) pools {
	var next pools
	for _, p := range set {
		added := &pool{Pool: p}
		if old := all.find(p.Key); old != nil {
			added.NoGolden, added.warm = old.NoGolden, old.warm
		}
		next = append(next, added)
	}
	return next
}

// configs returns the configuration of each pool.
func (all pools) configs() []config.Pool {
	configs := []config.Pool{}
	for _, p := range all {
		configs = append(configs, p.Pool)
	}
	return configs
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
