// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// ClaimRequest asks for a sandbox.
type ClaimRequest struct {
	// Key has its defaults.
	Key        config.Key
	TTLSeconds int64
	Ref        string
	NoRedirect bool
	By         history.Actor
}

// Claim provisions a sandbox and stores the claim, or returns the peers to ask instead. The caller answers the
// claim with [Daemon.Answer].
func (d *Daemon) Claim(req ClaimRequest) (v VM, peers []string, err error) {
	if err := checkTTL(req.TTLSeconds); err != nil {
		return VM{}, nil, err
	}
	var t ticket
	err = d.do(func() (err error) {
		t, peers, err = d.admit(req.Key, req.By, req.NoRedirect)
		return err
	})
	if err != nil || peers != nil {
		return VM{}, peers, err
	}
	length, err := d.random.between(d.cfg.Latency[t.how])
	if err != nil {
		return VM{}, nil, err
	}
	if err := d.Pause(length); err != nil {
		return VM{}, nil, err
	}
	now := d.cfg.Clock.Now().UTC()
	made := Claim{Ref: req.Ref, By: req.By, TTL: grantTTL(req.TTLSeconds), ClaimedAt: now}
	made.startLease(now)
	err = d.do(func() error {
		v, err = d.bind(t, made)
		return err
	})
	return v, nil, err
}

// ticket is a claim on its way: its place under max_claims is taken, and so is its warm VM.
type ticket struct {
	key config.Key
	by  history.Actor
	how config.Provision
	// warm is the VM of a warm hit.
	warm string
}

// admit takes what a claim needs, or names the peers that should be asked, or refuses.
func (d *Daemon) admit(k config.Key, by history.Actor, noRedirect bool) (ticket, []string, error) {
	p, err := d.resolve(k)
	if err != nil {
		return ticket{}, nil, err
	}
	if d.draining {
		return ticket{}, nil, d.limits.tooMany("the node is draining")
	}
	elsewhere := d.limits.redirect
	if noRedirect || len(d.limits.peers) == 0 {
		elsewhere = config.RedirectNever
	}
	if d.full(by) {
		if elsewhere != config.RedirectNever {
			return ticket{}, d.limits.peers, nil
		}
		return ticket{}, nil, d.limits.tooMany("at max_claims")
	}
	t := ticket{key: k, by: by, how: config.WarmHit}
	switch {
	case len(p.warm) > 0:
		t.warm, p.warm = p.warm[0], p.warm[1:]
	case elsewhere == config.RedirectMiss:
		return ticket{}, d.limits.peers, nil
	case p.NoGolden:
		t.how = config.ColdBoot
	default:
		t.how = config.Clone
	}
	d.inFlight[by]++
	return t, nil, nil
}

// full reports whether one more claim by that token would go over a bound.
func (d *Daemon) full(by history.Actor) bool {
	if d.limits.maxClaims == 0 && d.limits.tenantMaxClaims == 0 {
		return false
	}
	all := d.inFlight[history.ByRoot] + d.inFlight[history.ByTenant]
	tenant := d.inFlight[history.ByTenant]
	for _, v := range d.vms {
		if v.Claim == nil || v.Claim.Archived {
			continue
		}
		all++
		if v.Claim.By == history.ByTenant {
			tenant++
		}
	}
	return over(all, d.limits.maxClaims) || by == history.ByTenant && over(tenant, d.limits.tenantMaxClaims)
}

func over(n, bound int) bool { return bound != 0 && n >= bound }

// bind turns a ticket into a claim that is stored, or gives back what the ticket took.
func (d *Daemon) bind(t ticket, c Claim) (VM, error) {
	d.inFlight[t.by]--
	v, err := d.bound(t, c)
	if err != nil {
		return VM{}, errors.Join(fmt.Errorf("provision: %w", err), d.returnToPool(t))
	}
	e := v.event(history.EventClaimed, t.by)
	e.Provision = t.how
	d.record.Add(e)
	d.unanswered[v.ID] = v
	return v, nil
}

// returnToPool returns the warm VM of a ticket to its pool, or destroys it if the pool is gone.
func (d *Daemon) returnToPool(t ticket) error {
	if t.warm == "" {
		return nil
	}
	p := d.pools.find(t.key)
	if p == nil {
		return d.destroy(d.vms[t.warm], history.EventDiscarded, t.by)
	}
	p.warm = append(p.warm, t.warm)
	return nil
}

func (d *Daemon) bound(t ticket, c Claim) (VM, error) {
	var err error
	if c.Token, err = d.random.text(TokenPrefix, 16); err != nil {
		return VM{}, err
	}
	v := d.vms[t.warm]
	if t.warm == "" {
		if v, err = d.make(t.key); err != nil {
			return VM{}, err
		}
	}
	v.Claim = &c
	if err := d.keep(v); err != nil {
		return VM{}, err
	}
	if t.warm == "" {
		d.note(VM{ID: v.ID, Key: v.Key}, history.EventMade, t.by)
	}
	return v, nil
}

// Answer calls write, which writes a claim's answer, and records whether it was delivered, unless the daemon's end
// has settled that already. The locks are taken in such an order that nothing which the client does with its answer,
// and no closed connection, comes before the event.
func (d *Daemon) Answer(v VM, write func() (delivered bool, err error)) (err error) {
	d.mu.Lock()
	v, open := d.unanswered[v.ID]
	if !open {
		d.mu.Unlock()
		return ErrDropped
	}
	delete(d.unanswered, v.ID)
	d.record.Answer(d.mu.Unlock, func() history.Event {
		var delivered bool
		if delivered, err = write(); delivered {
			return v.event(history.EventAnswered, v.Claim.By)
		}
		return v.event(history.EventAnswerLost, v.Claim.By)
	})
	return err
}

// Holds returns an error unless the token is that of the sandbox.
func (d *Daemon) Holds(id, token string) error {
	return d.do(func() error {
		v, err := d.claimed(id)
		if err == nil && subtle.ConstantTimeCompare([]byte(token), []byte(v.Claim.Token)) == 0 {
			err = NoSandbox(id)
		}
		return err
	})
}

// End destroys the VM of a sandbox.
func (d *Daemon) End(id string, how history.EventType, by history.Actor) error {
	return d.do(func() error {
		v, err := d.claimed(id)
		if err != nil {
			return err
		}
		return d.destroy(v, how, by)
	})
}
