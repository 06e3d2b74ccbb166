// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// errDropped makes the connection close without an answer.
var errDropped = errors.New("connection dropped")

// daemon is one incarnation of the simulated sandboxd. A restart stops it and loads the next one
// from the store; a request that began under a stopped daemon changes nothing any more.
type daemon struct {
	*env
	// downUntil is when the daemon starts to serve.
	downUntil time.Time
	stopped   chan struct{}

	mu       sync.Mutex
	dead     bool
	draining bool
	vms      map[string]vm
	pools    []*pool
	limits   limits
	// inFlight counts the claims that are being provisioned, by who asked.
	inFlight map[Actor]int
	// unanswered are the claims whose answer is neither written nor lost.
	unanswered map[string]vm
}

// env is what every incarnation shares.
type env struct {
	cfg    Config
	store  store
	record *record
	random *random
}

// pool is a warm pool at work.
type pool struct {
	Pool
	// warm holds the ids of the VMs that a claim can have, the oldest first.
	warm []string
}

// limits are the settings of a daemon that the control API can change.
type limits struct {
	maxClaims       int
	tenantMaxClaims int
	redirect        Redirect
	peers           []string
	retryAfter      time.Duration
}

func loadDaemon(e *env, pools []Pool, l limits, downUntil time.Time) (*daemon, error) {
	kept, err := e.store.load()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(kept, func(a, b vm) int {
		return cmp.Or(a.MadeAt.Compare(b.MadeAt), cmp.Compare(a.ID, b.ID))
	})
	d := &daemon{
		env: e, downUntil: downUntil, limits: l,
		stopped: make(chan struct{}), vms: map[string]vm{},
		inFlight: map[Actor]int{}, unanswered: map[string]vm{},
	}
	for _, p := range pools {
		d.pools = append(d.pools, &pool{Pool: p})
	}
	for _, v := range kept {
		d.vms[v.ID] = v
		if p := d.pool(v.Key); v.Claim == nil && p != nil {
			p.warm = append(p.warm, v.ID)
		}
	}
	return d, nil
}

// stop ends the daemon. Answers that are being written are waited for; the others are lost.
func (d *daemon) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return
	}
	d.dead = true
	close(d.stopped)
	for _, id := range slices.Sorted(maps.Keys(d.unanswered)) {
		d.note(d.unanswered[id], EventAnswerLost, d.unanswered[id].Claim.By)
	}
	clear(d.unanswered)
}

// do runs fn with the daemon's state locked, unless the daemon has stopped or does not serve yet.
func (d *daemon) do(fn func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead || d.cfg.Clock.Now().Before(d.downUntil) {
		return errDropped
	}
	return fn()
}

// pause lets time pass for the daemon. It ends early, with an error, only when the daemon stops:
// provisioning goes on when a client has gone.
func (d *daemon) pause(length time.Duration) error {
	if length <= 0 {
		return nil
	}
	timer := d.cfg.Clock.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-d.stopped:
		return errDropped
	}
}

func (d *daemon) pool(k Key) *pool {
	for _, p := range d.pools {
		if p.Key == k {
			return p
		}
	}
	return nil
}

// make brings a VM into being. The caller stores it.
func (d *daemon) make(k Key) (vm, error) {
	for {
		id, err := d.random.text(IDPrefix, 8)
		if err != nil {
			return vm{}, err
		}
		if !d.record.knows(id) {
			return vm{ID: id, Key: k, MadeAt: d.cfg.Clock.Now().UTC()}, nil
		}
	}
}

// keep stores a VM; only then does it count.
func (d *daemon) keep(v vm) error {
	if err := d.store.put(v); err != nil {
		return err
	}
	d.vms[v.ID] = v
	return nil
}

// destroy ends a VM's life.
func (d *daemon) destroy(v vm, how EventType, by Actor) error {
	if err := d.store.drop(v.ID); err != nil {
		return err
	}
	delete(d.vms, v.ID)
	d.note(v, how, by)
	return nil
}

// note records a transition of a VM.
func (d *daemon) note(v vm, how EventType, by Actor) { d.record.add(newEvent(v, how, by)) }

// claims returns the VMs that are claimed, the oldest claim first.
func (d *daemon) claims() []vm {
	var held []vm
	for _, v := range d.vms {
		if v.Claim != nil {
			held = append(held, v)
		}
	}
	slices.SortFunc(held, func(a, b vm) int {
		return cmp.Or(a.Claim.ClaimedAt.Compare(b.Claim.ClaimedAt), cmp.Compare(a.ID, b.ID))
	})
	return held
}
