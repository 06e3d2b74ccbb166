// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// Host is one simulated host: the daemon that runs now, and what every daemon of it shares. Its methods can be
// called from any goroutine.
type Host struct {
	*env

	mu     sync.Mutex
	daemon *Daemon
}

// env is what every daemon of a host shares.
type env struct {
	cfg    config.Config
	store  store
	record *history.Record
	random *random
}

// New loads the kept state and starts the daemon, and reports whether the host never ran before; its pools are filled
// then. The configuration has its defaults. [Host.Close] gives the state directory back.
func New(cfg config.Config) (h *Host, fresh bool, err error) {
	kept, err := openStore(cfg.StateDir)
	if err != nil {
		return nil, false, err
	}
	record, err := history.OpenRecord(cfg)
	if err != nil {
		return nil, false, errors.Join(err, kept.close())
	}
	h = &Host{env: &env{cfg: cfg, store: kept, record: record, random: &random{r: cfg.Rand}}}
	fresh = record.Empty()
	if err := h.boot(fresh); err != nil {
		return nil, false, errors.Join(err, record.Close(), kept.close())
	}
	return h, fresh, nil
}

func (h *Host) boot(fresh bool) (err error) {
	configured, err := h.store.loadPools()
	if err != nil {
		return err
	}
	if configured == nil {
		configured = h.cfg.Pools
	}
	h.daemon, err = loadDaemon(h.env, configured, limits{
		maxClaims: h.cfg.MaxClaims, tenantMaxClaims: h.cfg.TenantMaxClaims,
		redirect: h.cfg.Redirect, peers: h.cfg.Peers, retryAfter: h.cfg.RetryAfter,
	}, time.Time{})
	if err != nil {
		return err
	}
	h.record.Add(history.Event{Type: history.EventStarted})
	if !fresh {
		return nil
	}
	return h.daemon.do(func() error {
		for _, p := range h.daemon.pools {
			if err := h.daemon.warm(p, p.Target, history.ByRefill); err != nil {
				return err
			}
		}
		return nil
	})
}

// Daemon returns the daemon that runs now.
func (h *Host) Daemon() *Daemon {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.daemon
}

// Restart kills the daemon in the middle of whatever it does and loads the next one from the state that was
// kept. The next one serves after the time that is given. A drain is over; VMs and settings made through
// [Host.SetCapacity] stay.
func (h *Host) Restart(down time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.daemon
	old.stop()
	next, err := loadDaemon(h.env, old.pools.configs(), old.limits, h.cfg.Clock.Now().Add(down))
	if err != nil {
		return fmt.Errorf("the daemon does not come back: %w", err)
	}
	h.daemon = next
	h.record.Add(history.Event{Type: history.EventStarted})
	return nil
}

// Now is the time by the clock of the host.
func (h *Host) Now() time.Time { return h.cfg.Clock.Now() }

// Stop stops the daemon.
func (h *Host) Stop() { h.Daemon().stop() }

// Close stops the daemon and closes the state directory. VMs stay.
func (h *Host) Close() error {
	h.Stop()
	return errors.Join(h.record.Close(), h.store.close())
}

// History returns events in the order they happened and live VMs in the order they were made, as of one moment.
// It works while the daemon is down.
func (h *Host) History(f history.Filter) history.History {
	d := h.Daemon()
	d.mu.Lock()
	defer d.mu.Unlock()
	all := history.History{VMs: []history.VM{}}
	for _, v := range d.vms {
		if view := v.view(); f.MatchesVM(view.ID, view.ClaimRef) {
			all.VMs = append(all.VMs, view)
		}
	}
	slices.SortFunc(all.VMs, func(a, b history.VM) int {
		return cmp.Or(a.MadeAt.Compare(b.MadeAt), cmp.Compare(a.ID, b.ID))
	})
	all.Events, all.Counters = h.record.Events(f)
	return all
}

// Token returns the token of a claimed sandbox, so that a test can act as its holder or look for a leak.
func (h *Host) Token(id string) (string, error) {
	d := h.Daemon()
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.claimed(id)
	if err != nil {
		return "", err
	}
	return v.Claim.Token, nil
}
