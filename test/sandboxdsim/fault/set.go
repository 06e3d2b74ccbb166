// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Set has the faults in force, in the order in which they were added.
type Set struct {
	clock     clock.PassiveClock
	endpoints []string

	mu     sync.Mutex
	lastID int
	active []*activeFault
}

type activeFault struct {
	Fault
	until time.Time
	dice  *rand.Rand
	// rebuilding marks a fault of [Set.Rebuild].
	rebuilding bool
}

// NewSet returns a Set without faults. Endpoints are the names that a fault can have.
func NewSet(c clock.PassiveClock, endpoints []string) *Set {
	return &Set{clock: c, endpoints: endpoints}
}

// Add puts a fault in force and returns its id. A fault that makes no sense is refused.
func (s *Set) Add(f Fault) (int, error) {
	a, err := s.prepare(f)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(a)
	return a.ID, nil
}

func (s *Set) prepare(f Fault) (*activeFault, error) {
	f = f.withDefaults()
	if err := f.validate(s.endpoints); err != nil {
		return nil, err
	}
	a := &activeFault{Fault: f, dice: rand.New(rand.NewPCG(f.Seed, 0))}
	if f.For.Duration > 0 {
		a.until = s.clock.Now().Add(f.For.Duration)
	}
	return a, nil
}

func (s *Set) add(a *activeFault) {
	s.lastID++
	a.ID = s.lastID
	s.active = append(s.active, a)
}

// List returns the faults in force; Skip and Count are what is left of them.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.clock.Now())
	list := []Fault{}
	for _, a := range s.active {
		list = append(list, a.Fault)
	}
	return list
}

// Remove ends one fault and reports whether it was in force. Requests that hang or wait already go on doing so.
func (s *Set) Remove(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.active)
	s.active = slices.DeleteFunc(s.active, func(a *activeFault) bool { return a.ID == id })
	return len(s.active) < before
}

// Clear ends every fault.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = nil
}

func (s *Set) expire(now time.Time) {
	s.active = slices.DeleteFunc(s.active, func(a *activeFault) bool {
		return !a.until.IsZero() && !now.Before(a.until)
	})
}

// Strike returns the faults that hit a request at a point, up to and including the first that settles it. ID is
// the sandbox in the path of the request, if there is one.
func (s *Set) Strike(endpoint, id string, p Point) []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(s.clock.Now())
	var hits []Fault
	var used []int
	for _, a := range s.active {
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
	s.active = slices.DeleteFunc(s.active, func(a *activeFault) bool { return slices.Contains(used, a.ID) })
	return hits
}

// hits reports whether the fault strikes a request at a point.
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
