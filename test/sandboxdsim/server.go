// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"errors"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/api"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/inprocess"
)

// Server is one simulated host with all its parts. Its methods, and those of its parts, can be called from any goroutine.
type Server struct {
	*host.Host
	// Faults are the faults in force.
	Faults *fault.Set
	// Requests has what the daemon was asked since the process started.
	Requests *history.Requests

	config config.Config
	api    *api.Server
	conns  connections
	closed sync.Once
}

// New loads the kept state and starts the daemon; a host that never ran before gets its pools filled.
// It starts no goroutine: see [Server.Run]. [Server.Close] gives the state directory back.
func New(cfg config.Config) (*Server, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h, fresh, err := host.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{Host: h, Faults: fault.NewSet(cfg.Clock, api.Endpoints()), Requests: &history.Requests{}, config: cfg}
	s.api = api.New(cfg, h, s.Faults, s.Requests, func() error { return s.Restart(RestartOptions{}) })
	if !fresh {
		if err := s.Faults.Rebuild(cfg.Rebuild); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Handler serves the sandboxd API.
func (s *Server) Handler() http.Handler { return s.api.Handler() }

// Transport answers requests to the sandboxd API in this process.
func (s *Server) Transport() http.RoundTripper { return inprocess.New(s.Handler()) }

// RestartOptions say how the daemon comes back. The zero value: at once, with the rebuilding of the configuration.
type RestartOptions struct {
	// Down is how long every connection is dropped before the daemon serves again.
	Down metav1.Duration `json:"down,omitzero"`
	// Rebuild takes the place of the configuration's; its time counts from the end of Down.
	Rebuild fault.Rebuild `json:"rebuild,omitzero"`
}

// Restart kills the daemon in the middle of whatever it does and loads the next one from the state that
// was kept. Connections are dropped, answers not yet written are lost, a drain and an earlier
// rebuilding are over; VMs, faults and settings made through SetCapacity stay.
func (s *Server) Restart(o RestartOptions) error {
	if o.Rebuild == (fault.Rebuild{}) {
		o.Rebuild = s.config.Rebuild
	}
	if err := o.Rebuild.Validate(); err != nil {
		return err
	}
	if o.Down.Duration < 0 {
		return errors.New("down cannot be negative")
	}
	if o.Rebuild.For.Duration > 0 {
		o.Rebuild.For.Duration += o.Down.Duration
	}
	if err := s.Faults.Rebuild(o.Rebuild); err != nil {
		return err
	}
	if err := s.Host.Restart(o.Down.Duration); err != nil {
		return err
	}
	s.conns.drop()
	return nil
}

// Run calls Reap and Refill at the configured intervals until the context ends.
func (s *Server) Run(ctx context.Context) {
	reap := s.config.Clock.NewTicker(s.config.ReapInterval)
	defer reap.Stop()
	refill := s.config.Clock.NewTicker(s.config.RefillInterval)
	defer refill.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-reap.C():
			_, err = s.Reap()
		case <-refill.C():
			_, err = s.Refill()
		}
		if err != nil {
			s.config.Logger.Error(err, "A background step failed; the next one tries again")
		}
	}
}

// Close stops the daemon, drops its connections and closes the state directory. VMs stay. Closing again does nothing.
func (s *Server) Close() (err error) {
	s.closed.Do(func() {
		s.Stop()
		s.conns.drop()
		err = s.Host.Close()
	})
	return err
}
