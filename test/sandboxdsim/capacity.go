// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"errors"
	"time"
)

// Capacity are the settings that a test changes while the daemon runs. A nil field leaves its setting alone.
type Capacity struct {
	// MaxClaims, TenantMaxClaims, Redirect, Peers and RetryAfter are as in [Config].
	MaxClaims       *int           `json:"max_claims,omitempty"`
	TenantMaxClaims *int           `json:"tenant_max_claims,omitempty"`
	Redirect        *Redirect      `json:"redirect,omitempty"`
	Peers           *[]string      `json:"peers,omitempty"`
	RetryAfter      *Duration      `json:"retry_after,omitempty"`
	Pools           []PoolCapacity `json:"pools,omitempty"`
}

// PoolCapacity are the settings of one pool, which must exist. Net and size default as in a claim.
type PoolCapacity struct {
	Key
	// Target is what refilling aims at.
	Target *int `json:"target,omitempty"`
	// Warm makes or destroys warm VMs at once until there are that many.
	Warm *int `json:"warm,omitempty"`
	// Golden decides between a clone and a cold boot on a warm miss.
	Golden *bool `json:"golden,omitempty"`
}

// Capacity returns every setting as it is.
func (s *Server) Capacity() Capacity {
	d := s.current()
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.limits
	peers := append([]string{}, l.peers...)
	retryAfter := Duration(l.retryAfter)
	c := Capacity{
		MaxClaims: &l.maxClaims, TenantMaxClaims: &l.tenantMaxClaims,
		Redirect: &l.redirect, Peers: &peers, RetryAfter: &retryAfter,
	}
	for _, p := range d.pools {
		target, warm, golden := p.Target, len(p.warm), !p.NoGolden
		c.Pools = append(c.Pools, PoolCapacity{Key: p.Key, Target: &target, Warm: &warm, Golden: &golden})
	}
	return c
}

// SetCapacity changes the settings that are not nil. It refuses the whole change when a part is wrong.
func (s *Server) SetCapacity(c Capacity) error {
	if c.Redirect != nil {
		if err := c.Redirect.validate(); err != nil {
			return err
		}
	}
	d := s.current()
	return d.do(func() error {
		for _, p := range c.Pools {
			if _, err := d.resolve(p.withDefaults()); err != nil {
				return err
			}
			if p.Target != nil && *p.Target < 0 || p.Warm != nil && *p.Warm < 0 {
				return errors.New("target and warm cannot be negative")
			}
		}
		d.limits.set(c)
		for _, p := range c.Pools {
			if err := d.setPool(d.pool(p.withDefaults()), p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *limits) set(c Capacity) {
	set(&l.maxClaims, c.MaxClaims)
	set(&l.tenantMaxClaims, c.TenantMaxClaims)
	set(&l.redirect, c.Redirect)
	set(&l.peers, c.Peers)
	if c.RetryAfter != nil {
		l.retryAfter = time.Duration(*c.RetryAfter)
	}
}

func (d *daemon) setPool(p *pool, c PoolCapacity) error {
	set(&p.Target, c.Target)
	if c.Golden != nil {
		p.NoGolden = !*c.Golden
	}
	if c.Warm == nil {
		return nil
	}
	if err := d.discard(p, *c.Warm, ByControl); err != nil {
		return err
	}
	return d.warm(p, *c.Warm-len(p.warm), ByControl)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
