// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func TestTheOrphanScanOnlyReports(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		claim := w.run("a", "P1", "A")
		w.node.Lose(claim.ID)
		w.node.Set(func() { w.node.Sandboxes["sb_other"] = sandboxd.Sandbox{ID: "sb_other"} })
		time.Sleep(time.Minute + time.Second)
		if got := w.p.Audit().Counts; len(got) > 0 {
			t.Errorf("found %v in the first pass", got)
		}
		time.Sleep(time.Minute)
		if diff := cmp.Diff(map[sandboxes.Finding]int{sandboxes.Orphan: 1, sandboxes.Stale: 1}, w.p.Audit().Counts); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		if _, held := w.row("a"); !held || len(w.node.Destroyed()) > 0 {
			t.Errorf("held %t, released %v", held, w.node.Destroyed())
		}
	}, func(c *Config) { c.OrphanScanInterval = time.Minute })
}
