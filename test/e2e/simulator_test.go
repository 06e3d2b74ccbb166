// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

func simulator(h clusterinfo.Host) control.Client {
	return control.Client{URL: h.SandboxdControlURL}
}

// simHistory returns the complete record of a host's simulator.
func (s *suite) simHistory(ctx context.Context, h clusterinfo.Host) (history.History, error) {
	t, err := simulator(h).History(ctx, history.Filter{})
	if err != nil {
		return t, fmt.Errorf("ask the simulator of %s: %w", h.Name, err)
	}
	return t, nil
}

// record is the simulators' record of one Pod name.
type record struct {
	// claims are the ids of the VMs ever claimed under the name, in order.
	claims []string
	// live are the VMs that are alive.
	live []history.VM
	// ends are the events that destroyed a VM, by id.
	ends map[string]history.Event
}

// history returns the record of a Pod name of the test's namespace.
func (f *fixture) history(name string) record {
	f.t.Helper()
	r, err := f.suite.history(f.t.Context(), f.namespace+"/"+name)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (s *suite) history(ctx context.Context, ref string) (record, error) {
	r := record{ends: map[string]history.Event{}}
	for _, h := range s.info.Hosts {
		t, err := simulator(h).History(ctx, history.Filter{ClaimRef: ref})
		if err != nil {
			return r, fmt.Errorf("ask the simulator of %s: %w", h.Name, err)
		}
		r.live = append(r.live, t.VMs...)
		for _, e := range t.Events {
			switch e.Type {
			case history.EventClaimed:
				r.claims = append(r.claims, e.Sandbox)
			case history.EventReleased, history.EventReaped, history.EventDiscarded, history.EventLost:
				r.ends[e.Sandbox] = e
			}
		}
	}
	return r, nil
}

// assertOneAlive checks that this VM lives and is the only one ever claimed under the
// name.
func (f *fixture) assertOneAlive(name, id string) {
	f.t.Helper()
	r := f.history(name)
	if len(r.claims) != 1 || r.claims[0] != id || len(r.live) != 1 || len(r.ends) != 0 {
		f.t.Fatalf("%s: want one claim, %s, and its VM alive; claimed %v, alive %v, ended %v", name, id, r.claims, r.live, r.ends)
	}
}

// waitReleased waits until the VM is gone. It checks that the VM was released with its own
// token, which only the daemon's table has.
func (f *fixture) waitReleased(name, id string) {
	f.t.Helper()
	eventually(f.t, "release of "+name, func(ctx context.Context) error {
		r, err := f.suite.history(ctx, f.namespace+"/"+name)
		if err != nil {
			return err
		}
		if _, ended := r.ends[id]; !ended {
			return errors.New("VM " + id + " is alive")
		}
		return nil
	})
	if end := f.history(name).ends[id]; end.Type != history.EventReleased || end.By != history.BySandbox {
		f.t.Errorf("VM %s was %s by %s; want released by its own token", id, end.Type, end.By)
	}
}

// setCapacity limits the claims of every host for the duration of the test.
func setCapacity(t *testing.T, s *suite, maxClaims int) {
	t.Helper()
	for _, h := range s.info.Hosts {
		before, err := simulator(h).Capacity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := simulator(h).SetCapacity(context.Background(), host.Capacity{MaxClaims: before.MaxClaims}); err != nil {
				t.Error(err)
			}
		})
		if err := simulator(h).SetCapacity(t.Context(), host.Capacity{MaxClaims: &maxClaims}); err != nil {
			t.Fatal(err)
		}
	}
}
