// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"errors"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// After a refusal one claim at a time finds out whether sandboxd has capacity again.
func TestCapacityGate(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	refusal := &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429, Wait: 30 * time.Second}
	var g capacityGate
	pass := func() admitted {
		t.Helper()
		a, err := g.admit(now)
		if err != nil {
			t.Fatalf("not admitted: %v", err)
		}
		return a
	}
	wait := func(want time.Duration) {
		t.Helper()
		_, err := g.admit(now)
		var e *sandboxd.Error
		if !errors.As(err, &e) || e.Class != sandboxd.NoCapacity || e.Wait != want {
			t.Fatalf("error %v, want a wait of %v", err, want)
		}
	}
	first, second := pass(), pass() // open: all go at once
	first.done(refusal, now)
	second.done(nil, now) // sent before the refusal, and proves nothing
	wait(30 * time.Second)
	now = now.Add(30 * time.Second)
	probe := pass()
	wait(probeWait)
	probe.skip()
	probe = pass()
	probe.done(refusal, now)
	wait(30 * time.Second)
	now = now.Add(31 * time.Second)
	probe = pass()
	wait(probeWait)
	probe.done(errors.New("another error"), now)
	pass().done(nil, now)
	pass()
	pass()
}

// A refusal without a wait closes nothing.
func TestCapacityGateWithoutAWait(t *testing.T) {
	var g capacityGate
	for range 3 {
		a, err := g.admit(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		a.done(&sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429}, time.Now())
	}
}
