// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// faults are the faults in force, in the order they were added.
type faults struct {
	mu     sync.Mutex
	lastID int
	active []*activeFault
}

type activeFault struct {
	Fault
	until time.Time
	dice  *rand.Rand
}

// AddFault puts a fault in force and returns its id. A fault that makes no sense is refused.
func (s *Server) AddFault(f Fault) (int, error) {
	f = f.withDefaults()
	if err := f.validate(); err != nil {
		return 0, err
	}
	a := &activeFault{Fault: f, dice: rand.New(rand.NewPCG(f.Seed, 0))}
	if f.For > 0 {
		a.until = s.env.cfg.Clock.Now().Add(f.For.std())
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.lastID++
	a.ID = s.faults.lastID
	s.faults.active = append(s.faults.active, a)
	return a.ID, nil
}

// Faults returns the faults in force; Skip and Count are what is left of them.
func (s *Server) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.expire(s.env.cfg.Clock.Now())
	list := []Fault{}
	for _, a := range s.faults.active {
		list = append(list, a.Fault)
	}
	return list
}

// RemoveFault ends one fault and tells whether it was in force. Requests that hang or wait already go on
// doing so.
func (s *Server) RemoveFault(id int) bool {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	before := len(s.faults.active)
	s.faults.active = slices.DeleteFunc(s.faults.active, func(a *activeFault) bool { return a.ID == id })
	return len(s.faults.active) < before
}

// ClearFaults ends every fault.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = nil
}

func (f *faults) expire(now time.Time) {
	f.active = slices.DeleteFunc(f.active, func(a *activeFault) bool {
		return !a.until.IsZero() && !now.Before(a.until)
	})
}

// strike returns the faults that hit a request at a point, ending with the first that settles it.
func (f *faults) strike(endpoint, id string, p Point, now time.Time) []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expire(now)
	var hits []Fault
	var used []int
	for _, a := range f.active {
		if !a.hits(endpoint, id, p) {
			continue
		}
		hits = append(hits, a.Fault)
		if a.Count--; a.Count == 0 {
			used = append(used, a.ID)
		}
		a.Count = max(a.Count, 0)
		if a.settles() {
			break
		}
	}
	f.active = slices.DeleteFunc(f.active, func(a *activeFault) bool { return slices.Contains(used, a.ID) })
	return hits
}

// hits reports whether the fault strikes a request at a point; id is the sandbox in its path, if there is one.
func (a *activeFault) hits(endpoint, id string, p Point) bool {
	if a.Endpoint != "" && a.Endpoint != endpoint || a.Point != p || !a.concerns(id) {
		return false
	}
	if a.Skip > 0 {
		a.Skip--
		return false
	}
	return a.Probability == 0 || a.dice.Float64() < a.Probability
}

func (f Fault) concerns(id string) bool {
	switch {
	case len(f.Sandboxes) == 0:
		return true
	case id == "":
		return f.Action == ActionOmit || f.Action == ActionRewrite
	default:
		return slices.Contains(f.Sandboxes, id)
	}
}
