// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// Server is one simulated node: the daemon that runs now, the state it keeps, the faults, and the
// truth about it all. Its methods can be called from any goroutine.
type Server struct {
	env      *env
	faults   faults
	requests requestLog
	conns    connections
	closed   sync.Once

	// rebuilding has the ids of the faults that stand for the last start's rebuilding.
	rebuilding struct {
		sync.Mutex
		faults []int
	}

	mu     sync.Mutex
	daemon *daemon
}

// New loads the kept state and starts the daemon; a node that never ran before gets its pools filled.
// It starts no goroutine: see [Server.Run]. [Server.Close] gives the state directory back.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	kept, err := openStore(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	rec, err := openRecord(cfg)
	if err != nil {
		return nil, errors.Join(err, kept.close())
	}
	s := &Server{env: &env{cfg: cfg, store: kept, record: rec, random: &random{r: cfg.Rand}}}
	if err := s.boot(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func openStore(dir string) (store, error) {
	if dir == "" {
		return newMemStore(), nil
	}
	return openDirStore(dir)
}

func (s *Server) boot() error {
	cfg := s.env.cfg
	fresh := s.env.record.empty()
	var err error
	s.daemon, err = loadDaemon(s.env, cfg.Pools, limits{
		maxClaims: cfg.MaxClaims, tenantMaxClaims: cfg.TenantMaxClaims,
		redirect: cfg.Redirect, peers: cfg.Peers, retryAfter: cfg.RetryAfter,
	}, time.Time{})
	if err != nil {
		return err
	}
	s.env.record.add(Event{Type: EventStarted})
	if !fresh {
		return s.rebuild(cfg.Rebuild)
	}
	return s.daemon.do(func() error {
		for _, p := range s.daemon.pools {
			if err := s.daemon.warm(p, p.Target, ByRefill); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Server) current() *daemon {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.daemon
}

// Close stops the daemon, drops its connections and closes the state directory. VMs stay. Closing again does nothing.
func (s *Server) Close() (err error) {
	s.closed.Do(func() {
		if d := s.current(); d != nil {
			d.stop()
		}
		s.conns.drop()
		err = errors.Join(s.env.record.close(), s.env.store.close())
	})
	return err
}

// Handler serves the sandboxd API.
func (s *Server) Handler() http.Handler { return s.routes() }

// ignoreDropped makes the steps of a stopped daemon do nothing.
func ignoreDropped(err error) error {
	if errors.Is(err, errDropped) {
		return nil
	}
	return err
}
