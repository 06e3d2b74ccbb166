// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"fmt"
	"net/http"
)

// ticket is a claim on its way: its place under max_claims is taken, and so is its warm VM.
type ticket struct {
	key Key
	by  Actor
	how Provision
	// warm is the VM of a warm hit.
	warm string
}

// resolve finds the pool for a key, or says which axis is at fault.
func (d *daemon) resolve(k Key) (*pool, error) {
	if err := k.validate(); err != nil {
		return nil, newError(http.StatusBadRequest, "%v", err)
	}
	template, lane := false, k.Net == DefaultNet
	for _, p := range d.pools {
		template = template || p.Template == k.Template
		lane = lane || p.Net == k.Net
	}
	p := d.pool(k)
	switch {
	case !template:
		return nil, newError(http.StatusBadRequest, "unknown template %q", k.Template)
	case !lane:
		return nil, newError(http.StatusConflict, "net %q: this node has no such egress attachment", k.Net)
	case p == nil:
		return nil, newError(http.StatusBadRequest, "no pool for %v", k)
	}
	return p, nil
}

// admit takes what a claim needs, or names the peers that should be asked, or refuses.
func (d *daemon) admit(k Key, by Actor, noRedirect bool) (ticket, []string, error) {
	p, err := d.resolve(k)
	if err != nil {
		return ticket{}, nil, err
	}
	if d.draining {
		return ticket{}, nil, d.tooMany("the node is draining")
	}
	elsewhere := d.limits.redirect
	if noRedirect || len(d.limits.peers) == 0 {
		elsewhere = RedirectNever
	}
	if d.full(by) {
		if elsewhere != RedirectNever {
			return ticket{}, d.limits.peers, nil
		}
		return ticket{}, nil, d.tooMany("at max_claims")
	}
	t := ticket{key: k, by: by, how: WarmHit}
	switch {
	case len(p.warm) > 0:
		t.warm, p.warm = p.warm[0], p.warm[1:]
	case elsewhere == RedirectMiss:
		return ticket{}, d.limits.peers, nil
	case p.NoGolden:
		t.how = ColdBoot
	default:
		t.how = Clone
	}
	d.inFlight[by]++
	return t, nil, nil
}

// full tells whether one more claim by that token would go over a bound.
func (d *daemon) full(by Actor) bool {
	if d.limits.maxClaims == 0 && d.limits.tenantMaxClaims == 0 {
		return false
	}
	all := d.inFlight[ByRoot] + d.inFlight[ByTenant]
	tenant := d.inFlight[ByTenant]
	for _, v := range d.vms {
		if v.Claim == nil || v.Claim.Archived {
			continue
		}
		all++
		if v.Claim.By == ByTenant {
			tenant++
		}
	}
	return over(all, d.limits.maxClaims) || by == ByTenant && over(tenant, d.limits.tenantMaxClaims)
}

func over(n, bound int) bool { return bound != 0 && n >= bound }

// bind turns a ticket into a claim that is stored, or gives back what the ticket took.
func (d *daemon) bind(t ticket, c claim) (vm, error) {
	d.inFlight[t.by]--
	v, err := d.bound(t, c)
	if err != nil {
		if p := d.pool(t.key); t.warm != "" {
			p.warm = append(p.warm, t.warm)
		}
		return vm{}, fmt.Errorf("provision: %w", err)
	}
	e := newEvent(v, EventClaimed, t.by)
	e.Provision = t.how
	d.record.add(e)
	d.unanswered[v.ID] = v
	return v, nil
}

func (d *daemon) bound(t ticket, c claim) (vm, error) {
	var err error
	if c.Token, err = d.random.text(TokenPrefix, 16); err != nil {
		return vm{}, err
	}
	v := d.vms[t.warm]
	if t.warm == "" {
		if v, err = d.make(t.key); err != nil {
			return vm{}, err
		}
	}
	v.Claim = &c
	if err := d.keep(v); err != nil {
		return vm{}, err
	}
	if t.warm == "" {
		d.note(vm{ID: v.ID, Key: v.Key}, EventMade, t.by)
	}
	return v, nil
}
