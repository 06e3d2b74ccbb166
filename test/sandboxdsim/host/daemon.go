// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// Daemon is one incarnation of the simulated sandboxd.
type Daemon struct {
	*env
	// downUntil is when the daemon starts to serve.
	downUntil time.Time
	stopped   chan struct{}

	mu       sync.Mutex
	dead     bool
	draining bool
	vms      map[string]VM
	pools    pools
	limits   limits
	// inFlight counts the claims that are being provisioned, by who asked.
	inFlight map[history.Actor]int
	// unanswered are the claims whose answer is neither written nor lost.
	unanswered map[string]VM
}

func loadDaemon(e *env, configured []config.Pool, l limits, downUntil time.Time) (*Daemon, error) {
	kept, err := e.store.load()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(kept, func(a, b VM) int {
		return cmp.Or(a.MadeAt.Compare(b.MadeAt), cmp.Compare(a.ID, b.ID))
	})
	d := &Daemon{
		env: e, downUntil: downUntil, limits: l,
		stopped: make(chan struct{}), vms: map[string]VM{},
		inFlight: map[history.Actor]int{}, unanswered: map[string]VM{},
	}
	for _, p := range configured {
		d.pools = append(d.pools, &pool{Pool: p})
	}
	for _, v := range kept {
		d.vms[v.ID] = v
		if p := d.pools.find(v.Key); v.Claim == nil && p != nil {
			p.warm = append(p.warm, v.ID)
		}
	}
	return d, nil
}

// stop ends the daemon. Answers that are being written are waited for; the others are lost.
func (d *Daemon) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return
	}
	d.dead = true
	close(d.stopped)
	for _, id := range slices.Sorted(maps.Keys(d.unanswered)) {
		d.note(d.unanswered[id], history.EventAnswerLost, d.unanswered[id].Claim.By)
	}
	clear(d.unanswered)
}

// do runs fn with the daemon's state locked, unless the daemon has stopped or does not serve yet.
func (d *Daemon) do(fn func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead || d.cfg.Clock.Now().Before(d.downUntil) {
		return ErrDropped
	}
	return fn()
}

// Pause lets time pass for the daemon. It ends early, with an error, only when the daemon stops:
// provisioning goes on when a client has gone.
func (d *Daemon) Pause(length time.Duration) error {
	if length <= 0 {
		return nil
	}
	timer := d.cfg.Clock.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-d.stopped:
		return ErrDropped
	}
}

// Stopped returns a channel that is closed when the daemon has stopped.
func (d *Daemon) Stopped() <-chan struct{} { return d.stopped }

// Serving returns [ErrDropped] unless the daemon serves.
func (d *Daemon) Serving() error { return d.do(func() error { return nil }) }

// make returns a new VM. The caller stores it.
func (d *Daemon) make(k config.Key) (VM, error) {
	for {
		id, err := d.random.text(IDPrefix, 8)
		if err != nil {
			return VM{}, err
		}
		if !d.record.Knows(id) {
			return VM{ID: id, Key: k, MadeAt: d.cfg.Clock.Now().UTC()}, nil
		}
	}
}

// keep stores a VM; only then does it count.
func (d *Daemon) keep(v VM) error {
	if err := d.store.put(v); err != nil {
		return err
	}
	d.vms[v.ID] = v
	return nil
}

// destroy destroys a VM and records it.
func (d *Daemon) destroy(v VM, how history.EventType, by history.Actor) error {
	if err := d.store.drop(v.ID); err != nil {
		return err
	}
	delete(d.vms, v.ID)
	d.note(v, how, by)
	return nil
}

// note records a transition of a VM.
func (d *Daemon) note(v VM, how history.EventType, by history.Actor) { d.record.Add(v.event(how, by)) }

// claimed returns a VM that is claimed.
func (d *Daemon) claimed(id string) (VM, error) {
	v, ok := d.vms[id]
	if !ok || v.Claim == nil {
		return VM{}, NoSandbox(id)
	}
	return v, nil
}

// Claims returns the VMs that are claimed, the oldest claim first.
func (d *Daemon) Claims() (held []VM, err error) {
	err = d.do(func() error {
		held = d.claims()
		return nil
	})
	return held, err
}

func (d *Daemon) claims() []VM {
	var held []VM
	for _, v := range d.vms {
		if v.Claim != nil {
			held = append(held, v)
		}
	}
	slices.SortFunc(held, func(a, b VM) int {
		return cmp.Or(a.Claim.ClaimedAt.Compare(b.Claim.ClaimedAt), cmp.Compare(a.ID, b.ID))
	})
	return held
}
