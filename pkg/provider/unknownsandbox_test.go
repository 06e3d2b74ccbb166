// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// A Pod whose status names a sandbox without a claim in the table, as after the restore
// of a backup or the loss of the table, must not silently get another sandbox. It keeps
// its status until its own sandbox is gone, and then ends.
func TestAPodOnASandboxWithoutAClaim(t *testing.T) {
	for name, kept := range map[string]bool{"and a claim is kept for it": true, "and there is none": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.owners.Set(ownership.Alive, "S")
				claims := 0
				if kept {
					preserve(w)
					claims = 1
				}
				pod := fakes.NewPod("a", "P2", "S")
				pod.Status = podstatus.Running(pod, podstatus.Binding{ClaimID: "sb_other", Address: "10.0.0.5:7777"})
				w.node.Set(func() { w.node.Sandboxes["sb_other"] = sandboxd.Sandbox{ID: "sb_other", ClaimRef: "agents/a"} })
				if err := w.create(pod); err == nil {
					t.Error("the Pod is taken for served")
				}
				untouched := func() {
					t.Helper()
					if c, held := w.row("a"); held != kept || held && c.PodUID != "P1" || w.node.ClaimCount() != claims || len(w.node.Destroyed()) > 0 {
						t.Errorf("held %t by %s, %d claims, released %v", held, c.PodUID, w.node.ClaimCount(), w.node.Destroyed())
					}
				}
				time.Sleep(time.Hour)
				if got := podstatus.ClaimID(w.pod("a")); got != "sb_other" {
					t.Errorf("its status names %q", got)
				}
				untouched()
				w.node.Lose("sb_other")
				time.Sleep(goneAfter + retryLimit)
				if reason, ended := w.ended("a"); !ended || reason != podstatus.ReasonLost {
					t.Errorf("ended %t %q once its sandbox is gone", ended, reason)
				}
				untouched()
			})
		})
	}
}
