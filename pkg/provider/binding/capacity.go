// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"errors"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// capacityGate refuses claims while sandboxd has asked this node to wait, so that a
// waiting Pod costs no request. The zero value is open.
type capacityGate struct {
	mu     sync.Mutex
	closed time.Time
}

func (g *capacityGate) check(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if wait := g.closed.Sub(now); wait > 0 {
		return &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429, Wait: wait}
	}
	return nil
}

// observe closes the gate if a claim's error asks for a wait.
func (g *capacityGate) observe(err error, now time.Time) {
	var e *sandboxd.Error
	if !errors.As(err, &e) || e.Class != sandboxd.NoCapacity || e.Wait == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = now.Add(e.Wait)
}
