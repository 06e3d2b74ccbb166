// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// Events of a sandbox appear on its Pod and on its owner.
func TestEvents(t *testing.T) {
	const (
		claimed   = "Normal SandboxClaimed: claimed a sandbox for the pod"
		preserved = "Normal SandboxPreserved: the pod is gone and its sandbox is kept: owner is alive"
		adopted   = "Normal SandboxAdopted: the pod adopted the sandbox that was kept for its name and owner"
		released  = "Normal SandboxReleased: the sandbox is released: owner is gone"
	)
	expect := func(t *testing.T, w *World, kind string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, w.Events.about(kind, "notebook-a")); diff != "" {
			t.Errorf("events of the %s (-want +got):\n%s", kind, diff)
		}
	}
	t.Run("a life", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(nb)
			w.API.DeletePod(nb)
			w.Wait(time.Minute)
			w.API.CreatePod(nb, false, "86400")
			w.Wait(time.Minute)
			// A restart creates no event.
			w.Stop()
			w.mustStart()
			w.Wait(time.Minute)
			w.API.DeleteOwner(nb, false)
			w.API.DeletePod(nb)
			w.Wait(time.Minute)
			expect(t, w, "Pod", claimed, preserved, adopted, released)
			expect(t, w, "Sandbox", claimed, preserved, adopted, released)
		})
	})
	t.Run("released by the re-check", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(nb)
			w.API.DeletePod(nb)
			w.Wait(time.Minute)
			w.API.DeleteOwner(nb, false)
			w.Wait(10 * time.Minute)
			expect(t, w, "Pod", claimed, preserved, released)
			expect(t, w, "Sandbox", claimed, preserved, released)
		})
	})
	t.Run("the owner was replaced", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.run(nb)
			w.API.DeletePod(nb)
			w.Wait(time.Second)
			w.API.DeleteOwner(nb, false)
			w.run(nb)
			const displaced = "Normal SandboxReleased: the sandbox is released: a pod of another owner has taken its name"
			expect(t, w, "Sandbox", claimed, preserved, displaced, claimed)
		})
	})
	t.Run("refused", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 429, Count: 3})
			w.run(nb)
			w.Wait(time.Minute)
			const full = "Warning SandboxRefused: the pod is not served: sandboxd claim: no warm capacity (HTTP 429); retried until the pool has capacity"
			expect(t, w, "Sandbox", full, full, full, claimed)
			expect(t, w, "Pod", claimed) // the library records the event on the Pod itself
		})
	})
	t.Run("the lease ended", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "60")
			w.Wait(10 * time.Minute)
			const ended = "Warning " + podstatus.ReasonLeaseExpired + ": the lease of the sandbox ended and the node has destroyed it"
			const ending = "Warning SandboxLeaseEnding: the lease of the sandbox ends in 15s or less; if it is not extended, the node then destroys the sandbox, and the pod ends"
			expect(t, w, "Pod", claimed, ending, ended)
			expect(t, w, "Sandbox", claimed, ending, ended)
		})
	})
}
