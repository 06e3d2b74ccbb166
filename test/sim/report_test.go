// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// waits returns what each claim waits for, by key and state.
func (w *World) waits() map[string]string {
	out := map[string]string{}
	for _, c := range append(w.Table().List(), w.Table().Releasing()...) {
		out[c.Key+" "+string(c.State)] = w.daemon.provider.WaitingFor(c)
	}
	return out
}

func (w *World) expectWaits(t *testing.T, when string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, w.waits()); diff != "" {
		t.Errorf("%s, claims wait for (-want +got):\n%s", when, diff)
	}
}

func TestWhatClaimsWaitFor(t *testing.T) {
	const a, b = "team-red/a", "team-red/b"
	t.Run("from claim to release", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(a)
			w.expectWaits(t, "while the Pod runs", map[string]string{a + " bound": ""})
			w.API.DeletePod(a)
			w.Wait(2 * time.Second)
			w.expectWaits(t, "when the Pod is gone", map[string]string{a + " preserved": "a new Pod, or the end of its owner"})
			w.Wait(30 * time.Second)
			w.expectWaits(t, "when the owner has been read", map[string]string{a + " preserved": "a new Pod, or the end of its owner: owner is alive"})
			w.fault(fault.Fault{Endpoint: "release", Action: fault.ActionDrop})
			w.API.DeleteOwner(a, false)
			w.Wait(time.Minute)
			w.expectWaits(t, "when sandboxd does not answer", map[string]string{a + " releasing": "sandboxd to confirm the release: sandboxd unreachable"})
			w.Sandboxd.Faults.Clear()
			w.Wait(time.Minute)
			w.expectWaits(t, "at the end", map[string]string{})
		})
	})
	t.Run("a release that a Pod's end waits for", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(a)
			w.fault(fault.Fault{Endpoint: "release", Action: fault.ActionStatus, Status: 500, Message: "CANARY of a remote"})
			w.API.DeleteOwner(a, false)
			w.API.DeletePod(a)
			w.Wait(10 * time.Second)
			w.expectWaits(t, "when sandboxd fails", map[string]string{a + " bound": "sandboxd to confirm the release: sandboxd failed"})
			w.Sandboxd.Faults.Clear()
			w.Wait(10 * time.Minute)
		})
	})
	t.Run("after a restart", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(a)
			w.Stop()
			w.fault(fault.Fault{Endpoint: "list", Action: fault.ActionDrop})
			started := time.Now()
			w.mustStart()
			w.Wait(time.Minute)
			w.expectWaits(t, "before sandboxd has answered", map[string]string{a + " quarantined": "sandboxd to say whether it still has the sandbox"})
			if at := w.daemon.provider.Verified(); !at.IsZero() {
				t.Errorf("verified at %v, without an answer", at)
			}
			w.Sandboxd.Faults.Clear()
			w.Wait(time.Minute)
			w.expectWaits(t, "after it has answered", map[string]string{a + " bound": ""})
			if at := w.daemon.provider.Verified(); !at.After(started) || at.After(time.Now()) {
				t.Errorf("verified at %v, started at %v", at, started)
			}
		})
	})
	t.Run("on a full disk", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(a)
			w.run(b)
			w.API.DeletePod(a)
			w.Wait(2 * time.Second)
			w.FS.SetFault(func(op faultfs.Op) error {
				if op == faultfs.OpWrite {
					return errDisk
				}
				return nil
			})
			w.API.CreatePod(a, false, "86400")
			w.Wait(2 * time.Second)
			w.expectWaits(t, "when a new Pod adopts", map[string]string{a + " preserved": "the claims file to name its Pod", b + " bound": ""})
			w.FS.SetFault(nil)
			w.Wait(time.Minute)
		})
	})
	t.Run("a lease that has passed", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(a)
			w.fault(fault.Fault{Endpoint: "list", Action: fault.ActionDrop})
			w.Wait(25 * time.Hour)
			w.expectWaits(t, "while sandboxd cannot be asked", map[string]string{a + " bound": "sandboxd to say whether the lease has ended"})
			w.Sandboxd.Faults.Clear()
			w.Wait(5 * time.Minute)
		})
	})
	t.Run("tentative", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			got := w.daemon.provider.WaitingFor(claims.Claim{Key: a, State: claims.Tentative, Row: claims.Row{ID: "x"}})
			if got != "the claims file to take it; if that fails it is given back" {
				t.Errorf("waits for %q", got)
			}
		})
	})
}
