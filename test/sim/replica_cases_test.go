// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/model"
)

func TestWhenAReplicasSandboxGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		act   func(w *World, key string)
		lives bool // after the grace
	}{
		"the replica is deleted": {func(w *World, key string) { w.API.DeletePod(key) }, false},
		"it is removed at once":  {func(w *World, key string) { w.API.RemovePod(key, "") }, false},
		"it is removed, and the daemon ends": {func(w *World, key string) {
			w.API.RemovePod(key, "")
			w.Wait(time.Second)
			w.Crash(true)
			w.mustStart()
		}, false},
		"it goes while the daemon is away": {func(w *World, key string) { w.Crash(true); w.API.RemovePod(key, ""); w.mustStart() }, true},
		"its deletion is lost":             {func(w *World, key string) { w.daemon.kubelet.LoseDeletions(1); w.API.RemovePod(key, "") }, true},
		"a restore has lost it":            {func(w *World, _ string) { w.model.Restore() }, true},
		"a restore brings it back": {func(w *World, key string) {
			w.API.Backup()
			w.API.RemovePod(key, "")
			w.Wait(time.Second)
			w.model.Restore()
		}, true},
		"a Pod takes its name": {func(w *World, key string) {
			p := w.API.Pod(key).DeepCopy()
			w.API.RemovePod(key, "")
			w.Wait(time.Minute)
			p.ResourceVersion, p.Annotations = "", apiserver.NewPod(key, "86400").Annotations
			p.Status = apiserver.NewPod(key, "86400").Status
			w.API.AddPod(p)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				w.API.CreateOwnerOf(apiserver.ReplicaSet, replicaSet(0))
				w.API.Backup()
				w.API.CreateReplica(replicaSet(0), "86400")
				w.Wait(2 * time.Second)
				key := w.API.Replicas(replicaSet(0))[0]
				id := w.running(key)
				tc.act(w, key)
				w.Wait(model.UnadoptableGrace - time.Minute)
				if !w.lives(id) {
					t.Fatal("destroyed before the end of the grace")
				}
				w.Wait(20 * time.Minute)
				if w.lives(id) != tc.lives {
					t.Errorf("the sandbox lives: %t", w.lives(id))
				}
			})
		})
	}
}
