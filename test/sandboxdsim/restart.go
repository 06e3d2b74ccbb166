// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"errors"
	"fmt"
	"net/http"
)

// Rebuild is the time after a start in which the index is not whole yet. The zero value: none.
type Rebuild struct {
	// For is how long it takes.
	For Duration `json:"for,omitempty"`
	// Index says what listing and single reads answer meanwhile.
	Index Index `json:"index,omitempty"`
}

// Index is what an index that is being rebuilt answers.
type Index string

const (
	// IndexUnavailable answers 503.
	IndexUnavailable Index = "unavailable"
	// IndexPartial leaves out the older half of the rows.
	IndexPartial Index = "partial"
	// IndexEmpty has no row.
	IndexEmpty Index = "empty"
)

// fault is the fault that stands for the rebuilding at one endpoint.
func (r Rebuild) fault(endpoint string) (Fault, error) {
	f := Fault{Endpoint: endpoint, For: r.For}
	switch r.Index {
	case IndexUnavailable:
		f.Action, f.Status, f.Message = ActionStatus, http.StatusServiceUnavailable, "the index is being rebuilt"
	case IndexPartial:
		f.Action, f.Fraction = ActionOmit, 0.5
	case IndexEmpty:
		f.Action = ActionEmpty
	default:
		return Fault{}, fmt.Errorf("unknown index %q: use %s, %s or %s", r.Index, IndexUnavailable, IndexPartial, IndexEmpty)
	}
	return f, nil
}

func (r Rebuild) validate() error {
	if r == (Rebuild{}) {
		return nil
	}
	if r.For <= 0 {
		return errors.New("rebuild: set how long it takes")
	}
	_, err := r.fault("list")
	return err
}

// RestartOptions say how the daemon comes back. The zero value: at once, as [Config.Rebuild] has it.
type RestartOptions struct {
	// Down is how long every connection is dropped before the daemon serves again.
	Down Duration `json:"down,omitempty"`
	// Rebuild takes the place of [Config.Rebuild]; its time counts from the end of Down.
	Rebuild Rebuild `json:"rebuild,omitzero"`
}

// Restart kills the daemon in the middle of whatever it does and loads the next one from the state that
// was kept. Connections are dropped, answers not yet written are lost, a drain and an earlier
// rebuilding are over; VMs, faults and settings made through [Server.SetCapacity] stay.
func (s *Server) Restart(o RestartOptions) error {
	if o.Rebuild == (Rebuild{}) {
		o.Rebuild = s.env.cfg.Rebuild
	}
	if err := o.Rebuild.validate(); err != nil {
		return err
	}
	if o.Down < 0 {
		return errors.New("down cannot be negative")
	}
	if o.Rebuild.For > 0 {
		o.Rebuild.For += o.Down
	}
	if err := s.rebuild(o.Rebuild); err != nil {
		return err
	}
	if err := s.replaceDaemon(o); err != nil {
		return err
	}
	s.conns.drop()
	return nil
}

func (s *Server) replaceDaemon(o RestartOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.daemon
	old.stop()
	var pools []Pool
	for _, p := range old.pools {
		pools = append(pools, p.Pool)
	}
	next, err := loadDaemon(s.env, pools, old.limits, s.env.cfg.Clock.Now().Add(o.Down.std()))
	if err != nil {
		return fmt.Errorf("the daemon does not come back: %w", err)
	}
	s.daemon = next
	s.env.record.add(Event{Type: EventStarted})
	return nil
}

// rebuild puts the faults of a rebuilding in force, in place of those of an
// earlier start: each start rebuilds its own index.
func (s *Server) rebuild(r Rebuild) error {
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	for _, id := range s.rebuilding.faults {
		s.RemoveFault(id)
	}
	s.rebuilding.faults = nil
	if r.For <= 0 {
		return nil
	}
	for _, endpoint := range []string{"list", "get"} {
		f, err := r.fault(endpoint)
		if err != nil {
			return err
		}
		id, err := s.AddFault(f)
		if err != nil {
			return err
		}
		s.rebuilding.faults = append(s.rebuilding.faults, id)
	}
	return nil
}
