// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"errors"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// probeWait is how long a claim waits while another one finds out whether sandboxd has
// capacity again.
const probeWait = time.Second

// capacityGate refuses claims while sandboxd has asked this node to wait, so that a
// waiting Pod costs no request. After the wait one claim goes first: the others follow
// once sandboxd has not refused it. The zero value is open.
type capacityGate struct {
	mu     sync.Mutex
	closed time.Time
	// refused is true while sandboxd's latest answer was a refusal, and probing while a
	// claim that may end this is on its way.
	refused, probing bool
}

// admit lets a claim pass, or returns how long it has to wait. The caller calls done with
// the result of the claim, or skip if it made none.
func (g *capacityGate) admit(now time.Time) (admitted, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := g.closed.Sub(now)
	if wait <= 0 && g.probing {
		wait = probeWait
	}
	if wait > 0 {
		return admitted{}, &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429, Wait: wait}
	}
	g.probing = g.refused
	return admitted{gate: g, probe: g.refused}, nil
}

// admitted is a claim that the gate has let pass.
type admitted struct {
	gate  *capacityGate
	probe bool
}

// skip gives the place back.
func (a admitted) skip() {
	if a.probe {
		a.gate.mu.Lock()
		defer a.gate.mu.Unlock()
		a.gate.probing = false
	}
}

// done records the result of the claim. An error that asks for a wait closes the gate.
func (a admitted) done(err error, now time.Time) {
	g := a.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if a.probe {
		g.probing, g.refused = false, false
	}
	var e *sandboxd.Error
	if errors.As(err, &e) && e.Class == sandboxd.NoCapacity && e.Wait != 0 {
		g.closed, g.refused = now.Add(e.Wait), true
	}
}
