// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// limits are the settings of a daemon that the control API can change.
type limits struct {
	maxClaims       int
	tenantMaxClaims int
	redirect        config.Redirect
	peers           []string
	retryAfter      time.Duration
}

// Capacity are the settings that a test changes while the daemon runs. A nil field leaves its setting alone.
type Capacity struct {
	// MaxClaims, TenantMaxClaims, Redirect, Peers and RetryAfter are as in [config.Config].
	MaxClaims       *int             `json:"max_claims,omitempty"`
	TenantMaxClaims *int             `json:"tenant_max_claims,omitempty"`
	Redirect        *config.Redirect `json:"redirect,omitempty"`
	Peers           *[]string        `json:"peers,omitempty"`
	RetryAfter      *metav1.Duration `json:"retry_after,omitempty"`
	Pools           []PoolCapacity   `json:"pools,omitempty"`
}

// PoolCapacity are the settings of one pool, which must exist. Net and size default as in a claim.
type PoolCapacity struct {
	config.Key
	// Target is what refilling aims at.
	Target *int `json:"target,omitempty"`
	// Warm makes or destroys warm VMs at once until there are that many.
	Warm *int `json:"warm,omitempty"`
	// Golden decides between a clone and a cold boot on a warm miss.
	Golden *bool `json:"golden,omitempty"`
}

// Capacity returns every setting as it is.
func (h *Host) Capacity() Capacity {
	d := h.Daemon()
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.limits
	peers := append([]string{}, l.peers...)
	retryAfter := metav1.Duration{Duration: l.retryAfter}
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
func (h *Host) SetCapacity(c Capacity) error {
	if c.Redirect != nil {
		if err := c.Redirect.Validate(); err != nil {
			return err
		}
	}
	d := h.Daemon()
	return d.do(func() error {
		for _, p := range c.Pools {
			if _, err := d.resolve(p.WithDefaults()); err != nil {
				return err
			}
			if p.Target != nil && *p.Target < 0 || p.Warm != nil && *p.Warm < 0 {
				return errors.New("target and warm cannot be negative")
			}
		}
		d.limits.set(c)
		for _, p := range c.Pools {
			if err := d.setPool(d.pools.find(p.WithDefaults()), p); err != nil {
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
		l.retryAfter = c.RetryAfter.Duration
	}
}

func (d *Daemon) setPool(p *pool, c PoolCapacity) error {
	set(&p.Target, c.Target)
	if c.Golden != nil {
		p.NoGolden = !*c.Golden
	}
	if c.Warm == nil {
		return nil
	}
	if err := d.discard(p, *c.Warm, history.ByControl); err != nil {
		return err
	}
	return d.warm(p, *c.Warm-len(p.warm), history.ByControl)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Info is what the daemon tells about itself. The hibernated are among the claimed; the archived are not.
type Info struct {
	Pools      []PoolInfo `json:"pools"`
	Claimed    int        `json:"claimed"`
	Hibernated int        `json:"hibernated"`
	Archived   int        `json:"archived"`
	Peers      []string   `json:"peers"`
	Draining   bool       `json:"draining"`
}

// PoolInfo is what the daemon tells about one pool.
type PoolInfo struct {
	Key       config.Key `json:"key"`
	Warm      int        `json:"warm"`
	Refilling int        `json:"refilling"`
	Target    int        `json:"target"`
	Golden    bool       `json:"golden"`
}

// Info returns the daemon's description of itself.
func (d *Daemon) Info() (Info, error) {
	i := Info{Pools: []PoolInfo{}, Peers: []string{}}
	err := d.do(func() error {
		i.Draining = d.draining
		i.Peers = append(i.Peers, d.limits.peers...)
		for _, p := range d.pools {
			pi := PoolInfo{Key: p.Key, Warm: len(p.warm), Target: p.Target, Golden: !p.NoGolden}
			if !d.draining && pi.Warm < pi.Target {
				pi.Refilling = 1
			}
			i.Pools = append(i.Pools, pi)
		}
		for _, v := range d.claims() {
			switch v.state() {
			case history.StateArchived:
				i.Archived++
			case history.StateHibernated:
				i.Hibernated++
				i.Claimed++
			default:
				i.Claimed++
			}
		}
		return nil
	})
	return i, err
}
